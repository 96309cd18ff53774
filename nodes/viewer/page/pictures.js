// Pictures and videos of the scene, by the browser's own encoders.

const FORMATS = ["video/webm;codecs=vp8", "video/webm", "video/mp4"]; // the first that the browser can write
const PICTURES = 30; // of a video [per second]
const RATE = 8e6; // [bit/s]
const PART = 1000; // of a video that the encoder hands over [ms]
const KEPT = 10000; // how long a file stays in memory for the download [ms]

export class Pictures {
  /**
   * @param {HTMLIFrameElement} view has the scene.
   * @param {function} name gives the present name of a file, without its ending.
   * @param {function} notice is told what was done; its second argument: whether it failed.
   */
  constructor(view, name, notice) {
    Object.assign(this, { view, name, notice, recorder: null });
  }

  /** The canvas of the scene; the others are small: axes and plots. */
  scene() {
    const canvases = [...(this.view.contentDocument?.querySelectorAll("canvas") ?? [])];
    const area = (canvas) => canvas.width * canvas.height;
    const scene = canvases.sort((one, other) => area(other) - area(one))[0];
    if (scene && area(scene)) return scene;
    this.notice("There is no scene yet.", true);
    return null;
  }

  /** Saves the scene as it is drawn now; viser keeps what it has drawn. */
  take() {
    this.scene()?.toBlob((blob) => this.save(blob, "png"));
  }

  /** Begins a video, or ends and saves it; `button` shows whether one is being taken. */
  film(button) {
    if (this.recorder) {
      this.recorder.stop();
      return;
    }
    const type = FORMATS.find((one) => window.MediaRecorder?.isTypeSupported(one));
    if (!type) {
      this.notice("This browser cannot write videos.", true);
      return;
    }
    const scene = this.scene();
    if (!scene) return;
    const stream = scene.captureStream(PICTURES);
    const parts = [];
    this.recorder = new MediaRecorder(stream, { mimeType: type, videoBitsPerSecond: RATE });
    const watch = setInterval(() => scene.isConnected || this.recorder?.stop(), PART); // another world: another scene
    this.recorder.ondataavailable = (event) => {
      parts.push(event.data);
      const size = parts.reduce((sum, part) => sum + part.size, 0);
      button.textContent = `Video ${Math.ceil(size / 1000)} kB`;
    };
    this.recorder.onstop = () => {
      clearInterval(watch);
      this.recorder = null;
      button.setAttribute("aria-pressed", "false");
      button.textContent = "Video";
      this.save(new Blob(parts, { type }), type.slice("video/".length).split(";")[0]);
    };
    this.recorder.start(PART);
    button.setAttribute("aria-pressed", "true");
    this.notice("The video runs until you press Video again.");
  }

  save(blob, ending) {
    if (!blob?.size) {
      this.notice("Nothing was drawn.", true);
      return;
    }
    const name = `${this.name()}.${ending}`;
    const anchor = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(anchor.href), KEPT);
    this.notice(`Saved ${name}.`);
  }
}
