// The connection to the page's server: messages out, messages in, and a new connection when one is lost.

const RETRY = 1000; // [ms]

export class Link {
  /** @param {Object<string, function>} hears functions that take messages, by the type of message; `lost`: none. */
  constructor(hears) {
    this.hears = hears;
    this.open();
  }

  open() {
    const address = new URL("control", location.href);
    address.protocol = address.protocol.replace("http", "ws");
    address.search = address.hash = "";
    this.socket = new WebSocket(address);
    this.socket.onmessage = (event) => {
      const message = JSON.parse(event.data);
      this.hears[message.type]?.(message);
    };
    this.socket.onclose = () => {
      this.hears.lost();
      setTimeout(() => this.open(), RETRY);
    };
  }

  /** Sends a message; says whether there is a connection. Nothing waits for a later one. */
  send(type, fields = {}) {
    if (this.socket.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify({ type, ...fields }));
    return true;
  }
}
