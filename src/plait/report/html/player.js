// The current row, how to move it (keys, hash), and who wants to know.

const player = {
  position: 0,
  listeners: [],

  go(position) {
    const last = trace.rows.length - 1;
    const wanted = Math.max(0, Math.min(last, position));
    if (last < 0 || wanted === this.position) return;
    this.position = wanted;
    this.tell();
  },

  tell() {
    for (const listener of this.listeners) listener(this.position);
    clearTimeout(this.timer);
    // Browsers limit how often the address may change.
    this.timer = setTimeout(() => history.replaceState(null, "", `#row=${this.position + 1}`), 200);
  },

  // Goes there from somewhere else on the page.
  show(position) {
    this.go(position);
    const workspace = document.getElementById("execution");
    const box = workspace.getBoundingClientRect();
    if (box.top < -40 || box.bottom > window.innerHeight + 200)
      workspace.scrollIntoView({ block: "start" });
  },

  nextSwitch() {
    this.go(trace.switches.find((row) => row > this.position) ?? trace.rows.length - 1);
  },

  previousSwitch() {
    const before = trace.switches.filter((row) => row < this.position);
    this.go(before.length ? before[before.length - 1] : 0);
  },

  // The next row at a line of the source; after the last one the first again.
  nextAt(file, line) {
    const rows = trace.rowsAtLine.get(`${line}:${file}`);
    if (rows) this.go(rows.find((row) => row > this.position) ?? rows[0]);
    return Boolean(rows);
  },

  fromHash() {
    const found = /^#row=(\d+)$/.exec(location.hash);
    if (found) this.go(Number(found[1]) - 1);
    return Boolean(found);
  },

  onKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const target = event.target;
    if (target instanceof HTMLInputElement && target.type !== "range") return;
    if (target.closest && target.closest("[role=tablist], [data-own-keys]")) return;
    const action = keys[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  },
};

const keys = {
  ArrowRight: () => player.go(player.position + 1),
  ArrowLeft: () => player.go(player.position - 1),
  j: () => player.go(player.position + 1),
  k: () => player.go(player.position - 1),
  Home: () => player.go(0),
  End: () => player.go(trace.rows.length - 1),
  n: () => player.nextSwitch(),
  p: () => player.previousSwitch(),
};
