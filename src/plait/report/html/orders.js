// The event order graph: shared accesses and synchronisations, one column for each thread. An event
// is below every event that it has to come after, not below those that merely happened before.

const EVENT = { height: 24, gap: 76, narrowest: 164, widest: 260, level: 36, top: 34 };
const MOST_EVENTS = 200;
const RELATIONS = [
  ["po", "program order", true],
  ["rf", "read from", true],
  ["ws", "write order", true],
  ["sync", "create, join, lock hand-over", true],
  ["fr", "from read to later write", false],
];

// All events and the relations between them, in the order of execution.
function eventOrder() {
  const events = [],
    eventOfRow = new Map();
  for (const row of trace.rows) {
    if (!row.operation && !row.changes.some((change) => change.shared)) continue;
    eventOfRow.set(row.index, events.length);
    events.push({ row, before: [] });
  }
  const relate = (kind, from, to, what) => {
    if (from !== undefined && to !== undefined && from < to)
      events[to].before.push({ kind, from, to, what });
  };
  const lastOf = new Map(),
    created = new Map(),
    written = new Map(),
    readSince = new Map(),
    released = new Map();
  events.forEach(({ row }, index) => {
    const { thread, operation } = row;
    if (lastOf.has(thread)) relate("po", lastOf.get(thread), index, "");
    else relate("sync", created.get(thread), index, `thread ${thread} begins`);
    for (const change of row.changes) {
      if (!change.shared) continue;
      const writer = written.get(change.name);
      if (change.read) {
        relate("rf", writer, index, change.name);
        if (!readSince.has(change.name)) readSince.set(change.name, []);
        readSince.get(change.name).push(index);
      } else {
        relate("ws", writer, index, change.name);
        for (const reader of readSince.get(change.name) || [])
          relate("fr", reader, index, change.name);
        written.set(change.name, index);
        readSince.delete(change.name);
      }
    }
    if (operation) {
      const { kind, object } = operation;
      if (kind === "create" && operation.thread !== null) created.set(operation.thread, index);
      if (kind === "join" && operation.thread !== null)
        relate("sync", lastOf.get(operation.thread), index, `thread ${operation.thread} has ended`);
      const lock = operation.lock || object;
      if (TAKING.has(kind) && operation.succeeded) relate("sync", released.get(lock), index, lock);
      if (kind === "wake" && object !== lock) relate("sync", released.get(object), index, object);
      if (["unlock", "wait"].includes(kind)) released.set(lock, index);
      if (["signal", "broadcast", "post"].includes(kind)) released.set(object, index);
    }
    lastOf.set(thread, index);
  });
  // Between events of one thread program order says it all, except where a value comes from.
  for (const event of events) {
    event.before = event.before.filter(
      ({ kind, from, to }) =>
        kind === "po" ||
        events[from].row.thread !== events[to].row.thread ||
        (kind === "rf" && !isNeighbour(events, from, to)),
    );
  }
  return { events, eventOfRow };
}

function isNeighbour(events, from, to) {
  return events[to].before.some((edge) => edge.kind === "po" && edge.from === from);
}

function eventLabel({ operation, changes }) {
  if (operation) return operation.phrase;
  const shared = changes.filter((change) => change.shared);
  const write = shared.find((change) => !change.read) || shared[0];
  return `${write.read ? "R" : "W"} ${write.name} ${write.read ? "is" : "="} ${write.value}`;
}

class OrderGraph {
  constructor() {
    Object.assign(this, eventOrder());
    this.picture = svg("svg", {
      class: "orders",
      id: "orders-picture",
      role: "group",
      "aria-label": "event order graph",
    });
    this.note = element("p", { class: "note" });
    this.view = element(
      "div",
      { class: "scroll picture", tabindex: 0, role: "region", "aria-label": "event order graph" },
      this.picture,
    );
    this.legend = element(
      "div",
      { class: "legend" },
      RELATIONS.map(([kind, name, shown]) => {
        this.picture.classList.toggle("hide-" + kind, !shown);
        return element(
          "label",
          {},
          element("input", {
            type: "checkbox",
            checked: shown,
            onchange: (event) =>
              this.picture.classList.toggle("hide-" + kind, !event.target.checked),
          }),
          svg(
            "svg",
            { width: 30, height: 10, "aria-hidden": "true" },
            svg("line", { class: "edge " + kind, x1: 1, x2: 29, y1: 5, y2: 5 }),
          ),
          name,
        );
      }),
    );
    this.from = -1;
    this.visible = false;
    player.listeners.push(() => this.follow());
    // Nobody sees what is out of the window; steps are faster without it.
    new IntersectionObserver((changes) => {
      this.visible = changes[changes.length - 1].isIntersecting;
      this.follow();
    }).observe(this.view);
    addEventListener("beforeprint", () => this.update(player.position));
  }

  get node() {
    if (this.events.length < 2) return null;
    return section(
      "orders",
      "Event order",
      element(
        "p",
        { class: "note" },
        "Shared accesses and synchronisations; an event is below those that it has to come after. Click to go there.",
      ),
      this.legend,
      this.note,
      this.view,
    );
  }

  // The number of the last event at or before the row.
  current(position) {
    return lastUpTo(this.events, position, (event) => event.row.index);
  }

  follow() {
    if (this.visible || this.from < 0) this.update(player.position);
  }

  update(position) {
    if (this.events.length < 2) return;
    const current = this.current(position);
    const margin = MOST_EVENTS / 8;
    const outside =
      this.from < 0 ||
      (this.events.length > MOST_EVENTS &&
        ((current < this.from + margin && this.from > 0) ||
          (current > this.from + MOST_EVENTS - margin &&
            this.from + MOST_EVENTS < this.events.length)));
    if (outside)
      this.draw(Math.max(0, Math.min(current - MOST_EVENTS / 2, this.events.length - MOST_EVENTS)));
    if (this.at === current) return;
    this.boxes.forEach((box, index) => {
      box.classList.toggle("later", this.from + index > current);
      box.classList.toggle("current", this.from + index === current);
    });
    this.at = current;
    const box = this.boxes[current - this.from];
    if (box) this.keepVisible(Number(box.dataset.y));
  }

  keepVisible(y) {
    if (y < this.view.scrollTop + 40 || y > this.view.scrollTop + this.view.clientHeight - 40) {
      this.view.scrollTop = y - this.view.clientHeight / 2;
    }
  }

  draw(from) {
    this.from = from;
    this.at = null;
    const shown = this.events.slice(from, from + MOST_EVENTS);
    const lanes = trace.threads
      .filter((thread) => shown.some((event) => event.row.thread === thread.number))
      .map((thread) => thread.number);
    const level = this.levels(shown);
    const room = this.view.clientWidth / lanes.length - EVENT.gap;
    this.width = Math.max(EVENT.narrowest, Math.min(EVENT.widest, room));
    const left = this.width / 2 + 30,
      column = this.width + EVENT.gap;
    const spot = shown.map((event, index) => ({
      x: left + lanes.indexOf(event.row.thread) * column,
      y: EVENT.top + 20 + level[index] * EVENT.level,
    }));
    const width = lanes.length * column;
    const height = EVENT.top + 50 + Math.max(0, ...level) * EVENT.level;
    const edges = [];
    shown.forEach((event, to) => {
      for (const edge of event.before) {
        const start = edge.from - from;
        if (start >= 0) edges.push(this.edge(edge, spot[start], spot[to]));
      }
    });
    this.boxes = shown.map((event, index) => this.box(event, spot[index]));
    this.picture.replaceChildren(
      arrowHeads(RELATIONS.map(([kind]) => kind)),
      ...lanes.map((thread, index) => svg("g", {}, svgBadge(thread, left + index * column, 16))),
      ...edges,
      ...this.boxes,
    );
    for (const [name, value] of Object.entries({
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
    }))
      this.picture.setAttribute(name, value);
    this.note.textContent =
      this.events.length > MOST_EVENTS
        ? `Events ${from + 1} to ${from + shown.length} of ${this.events.length}; the window follows the current row.`
        : "";
  }

  // The longest way from the top: all relations count, shown or not.
  levels(shown) {
    const level = [];
    for (const event of shown) {
      const before = event.before
        .map((edge) => level[edge.from - this.from])
        .filter((value) => value !== undefined);
      level.push(before.length ? Math.max(...before) + 1 : 0);
    }
    return level;
  }

  box(event, { x, y }) {
    const { row } = event,
      label = eventLabel(row),
      half = this.width / 2;
    const node = svg(
      "g",
      {
        class: "event " + threadClass(row.thread),
        role: "button",
        "aria-label": rowText(row),
        "data-y": y,
        "data-row": row.index,
        onclick: () => player.go(row.index),
      },
      svg("rect", {
        x: x - half,
        y: y - EVENT.height / 2,
        width: this.width,
        height: EVENT.height,
        rx: 4,
      }),
      svg(
        "text",
        { class: "mono", x: x - half + 8, y: y + 4 },
        clipped(label, Math.floor((this.width - 40) / 7.3)),
      ),
      svg(
        "text",
        { class: "line-number", x: x + half - 6, y: y + 4, "text-anchor": "end" },
        String(row.place.line),
      ),
    );
    return titled(node, rowText(row));
  }

  edge({ kind, what }, from, to) {
    const half = this.width / 2;
    let path;
    if (kind === "po") path = `M${from.x},${from.y + 12} V${to.y - 13}`;
    else if (from.x === to.x) {
      const side = from.x - half;
      path = `M${side},${from.y} C${side - 34},${from.y + 10} ${side - 34},${to.y - 10} ${side},${to.y}`;
    } else {
      const way = to.x > from.x ? 1 : -1,
        x1 = from.x + way * half,
        x2 = to.x - way * half,
        bend = Math.max(30, Math.abs(x2 - x1) / 2);
      path = `M${x1},${from.y} C${x1 + way * bend},${from.y} ${x2 - way * bend},${to.y} ${x2},${to.y}`;
    }
    const node = svg("path", {
      class: "edge " + kind,
      d: path,
      "marker-end": `url(#head-${kind})`,
    });
    const name = RELATIONS.find(([each]) => each === kind)[1];
    return titled(node, what ? `${name}: ${what}` : name);
  }
}
