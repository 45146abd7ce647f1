// A flame graph is a picture where scripts do not run; where they do, it becomes one that can be clicked.
"use strict";
for (const picture of document.querySelectorAll(".framedex img[src^='data:image/svg+xml']")) {
  const text = atob(picture.src.slice(picture.src.indexOf(",") + 1));
  const drawn = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  drawn.querySelector("style").remove();
  drawn.removeAttribute("class");
  const around = picture.parentElement;
  around.classList.add("flames");
  around.replaceChildren(document.importNode(drawn, true));
}
