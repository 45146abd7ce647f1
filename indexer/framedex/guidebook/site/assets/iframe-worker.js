// Search on pages of the file system, where browsers start no workers: a worker's script runs in a hidden frame instead.
"use strict"
if (location.protocol === "file:") {
  // The theme's worker looks for this name in its parent, to know that it is in a frame.
  window.IFrameWorker = class extends EventTarget {
    constructor(address) {
      super()
      this.onmessage = null
      this.onerror = null
      const frame = document.createElement("iframe")
      frame.hidden = true
      frame.title = "search"
      document.body.append(frame)
      const inside = frame.contentWindow
      // What the script sends must reach this object, and no message of any other window may.
      inside.postMessage = (data) => {
        const event = new MessageEvent("message", { data })
        this.dispatchEvent(event)
        this.onmessage?.(event)
      }
      this.started = new Promise((resolve) => {
        const script = inside.document.createElement("script")
        script.src = new URL(address, location.href).href
        script.onload = resolve
        inside.document.body.append(script)
      })
      this.inside = inside
      this.frame = frame
    }

    postMessage(data) {
      this.started.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })))
    }

    terminate() {
      this.frame.remove()
    }
  }
  window.Worker = window.IFrameWorker
}
