// The program of function blocks: what is on each wire now, a row a block.

export class Program {
  /** @param {Element} panel has an element .wires for the rows. */
  constructor(panel) {
    this.place = panel.querySelector(".wires");
    this.rows = new Map(); // "block.OUTPUT" -> the element of its value
  }

  /** Shows the values of a message: block -> output -> number. */
  show({ values }) {
    const names = Object.entries(values).flatMap(([block, outputs]) => Object.keys(outputs).map((one) => `${block}.${one}`));
    if (names.length !== this.rows.size || !names.every((name) => this.rows.has(name))) this.layOut(values);
    for (const [block, outputs] of Object.entries(values))
      for (const [name, value] of Object.entries(outputs)) {
        const text = readable(value);
        const shown = this.rows.get(`${block}.${name}`);
        if (shown.textContent === text) continue;
        shown.textContent = text;
        shown.classList.toggle("on", value === 1);
      }
  }

  layOut(values) {
    this.rows.clear();
    this.place.replaceChildren();
    for (const [block, outputs] of Object.entries(values)) {
      const row = this.place.insertRow();
      row.insertCell().textContent = block.replaceAll("_", " ");
      const cell = row.insertCell();
      for (const name of Object.keys(outputs)) {
        const [wire, value] = [document.createElement("span"), document.createElement("output")];
        wire.className = "wire";
        value.dataset.wire = `${block}.${name}`;
        wire.append(`${name} `, value);
        cell.append(wire, " ");
        this.rows.set(`${block}.${name}`, value);
      }
    }
  }
}

/** A number in four digits. */
function readable(value) {
  if (value === 0 || (Math.abs(value) >= 1e-3 && Math.abs(value) < 1e5)) return String(Number(value.toPrecision(4)));
  return value.toExponential(3);
}
