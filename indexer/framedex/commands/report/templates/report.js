// A click on a function of a flame graph shows it alone, as wide as the page, below its callers; and says what it is.
"use strict";
for (const graph of document.querySelectorAll(".flames:not(.zooms)")) {
  const picked = graph.nextElementSibling;
  const boxes = [...graph.querySelectorAll("svg svg")].map((element) => ({
    element,
    left: parseFloat(element.getAttribute("x")),
    width: parseFloat(element.getAttribute("width")),
    top: parseFloat(element.getAttribute("y")),
  }));
  graph.classList.add("zooms");

  function zoom(to) {
    const end = to.left + to.width;
    for (const box of boxes) {
      const isAround = box.left <= to.left + 1e-6 && box.left + box.width >= end - 1e-6 && box.top <= to.top;
      const isWithin = box.left >= to.left - 1e-6 && box.left + box.width <= end + 1e-6 && box.top >= to.top;
      box.element.style.display = isAround || isWithin ? "" : "none";
      const left = isAround ? 0 : (100 * (box.left - to.left)) / to.width;
      const width = isAround ? 100 : (100 * box.width) / to.width;
      box.element.setAttribute("x", `${left}%`);
      box.element.setAttribute("width", `${width}%`);
      name(box.element, width);
    }
  }

  function name(element, width) {
    const shown = element.querySelector("text");
    if (width <= 0.6 || shown !== null) return;
    const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
    text.setAttribute("x", "3");
    text.setAttribute("y", "13");
    text.textContent = element.querySelector("title").textContent.replace(/: [^:]*$/, "");
    element.append(text);
  }

  graph.addEventListener("click", (event) => {
    const element = event.target.closest("svg svg");
    const box = boxes.find((each) => each.element === element);
    if (box === undefined) return;
    zoom(box);
    picked.textContent = element.querySelector("title").textContent;
    if (element.dataset.place === undefined) return;
    const place = document.createElement(element.dataset.link === undefined ? "span" : "a");
    place.textContent = element.dataset.place;
    if (element.dataset.link !== undefined) place.href = element.dataset.link;
    picked.append(" ", place);
  });
}
for (const hint of document.querySelectorAll(".with-script")) hint.hidden = false;
