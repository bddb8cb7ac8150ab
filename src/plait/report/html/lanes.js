// The timeline: one lane for each thread, one row for each thing a thread does, in the order of
// execution. Only the rows near the visible ones are in the page, so that its size does not matter.

const ROW_HEIGHT = 26;
const NUMBER_WIDTH = 52;
const TEXT_WIDTH = 420; // room for the text of the last lane
const SPARE_ROWS = 15;
const MOST_CHIPS = 3; // the line above the lanes has them all

// Small pictures of operations, 12 by 12.
const SIGNS = {
  lock: "M3 6V4a3 3 0 0 1 6 0v2M2 6h8v5H2z",
  unlock: "M3 6V3.5a2.6 2.6 0 0 1 5-1M2 6h8v5H2z",
  create: "M3 1v4c0 3 6 2 6 6M6.8 8.8 9 11l2.2-2.2M3 5v6",
  join: "M9 1v3c0 3-6 2-6 5v2M3 1v10",
  wait: "M3 1h6M3 11h6M3.5 1c0 5 5 5 5 10M8.5 1c0 5-5 5-5 10",
  signal: "M7 1 3 7h3l-1 4 4-6H6z",
  end: "M3 3h6v6H3z", // of a thread or of an atomic section
  begin: "M3 2h6M6 2v8",
  wrong: "M2.5 2.5l7 7M9.5 2.5l-7 7",
  other: "M6 3.5a2.5 2.5 0 1 1 0 5a2.5 2.5 0 1 1 0-5",
};
const SIGN_OF = {
  trylock: "lock",
  "read-lock": "lock",
  "write-lock": "lock",
  broadcast: "signal",
  post: "signal",
  wake: "lock",
  exit: "end",
  barrier: "wait",
};

function sign(kind) {
  const shape = SIGNS[SIGN_OF[kind] || kind] || SIGNS.other;
  return svg(
    "svg",
    { class: "sign", viewBox: "0 0 12 12", width: 12, height: 12, "aria-hidden": "true" },
    svg("path", { d: shape }),
  );
}

function changeChip({ name, value, read, shared }) {
  const kind = (shared ? " shared" : "") + (read ? " read" : " written");
  return element("span", { class: "chip" + kind }, `${name} ${read ? "is" : "="} ${value}`);
}

class Lanes {
  constructor() {
    this.shown = new Map(); // row index -> its element
    this.lines = svg("svg", { class: "lines", "aria-hidden": "true" });
    this.header = element("div", { class: "lane-heads", "aria-hidden": "true" });
    this.endings = endings();
    this.body = element("div", { class: "lane-body" }, this.lines);
    this.node = element(
      "div",
      {
        class: "lanes",
        id: "lanes",
        tabindex: 0,
        role: "listbox",
        "aria-label": "timeline, one lane for each thread",
      },
      this.header,
      this.body,
    );
    this.node.addEventListener("scroll", () => this.scheduleFill());
    this.node.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      player.go(player.position + step);
    });
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest(".row[data-row]");
      if (row) player.go(Number(row.dataset.row));
    });
    new ResizeObserver(() => this.resize()).observe(this.node);
    player.listeners.push((position) => this.select(position));
    addEventListener("beforeprint", () => this.showAll());
    addEventListener("afterprint", () => {
      this.node.classList.remove("all");
      this.resize();
    });
  }

  // Only one thread acts in a row, so its text may run over the lanes to its right.
  resize() {
    const width = this.node.clientWidth,
      lanes = trace.threads.length;
    if (!width || this.node.classList.contains("all")) return; // the paper has another width
    this.laneWidth =
      lanes < 2
        ? 0
        : Math.max(40, Math.min(180, (width - NUMBER_WIDTH - TEXT_WIDTH) / (lanes - 1)));
    const needed =
      NUMBER_WIDTH + this.laneWidth * (lanes - 1) + Math.min(TEXT_WIDTH, width - NUMBER_WIDTH);
    this.width = Math.max(width, needed);
    this.body.style.height = `${(trace.rows.length + this.endings.length) * ROW_HEIGHT + 4}px`;
    this.body.style.width = this.header.style.width = `${this.width}px`;
    this.header.replaceChildren(
      element("span", { class: "number" }, "step"),
      ...trace.threads.map((thread, index) => {
        const head = element(
          "span",
          { class: "lane-head", title: threadTitle(thread.number) },
          badge(thread.number),
          this.laneWidth >= 90 || index === lanes - 1 ? element("span", {}, thread.function) : null,
        );
        head.style.left = `${this.laneLeft(index)}px`;
        head.style.maxWidth = `${index === lanes - 1 ? TEXT_WIDTH : this.laneWidth - 4}px`;
        return head;
      }),
    );
    this.body.replaceChildren(
      this.lines,
      ...this.endings.map((ending, index) => this.ending(ending, index)),
    );
    this.shown.clear();
    this.fill();
    this.reveal(player.position);
  }

  laneLeft(lane) {
    return NUMBER_WIDTH + lane * this.laneWidth;
  }

  scheduleFill() {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      this.fill();
    });
  }

  fill() {
    if (this.laneWidth === undefined || this.node.classList.contains("all")) return;
    const first = Math.max(0, Math.floor(this.node.scrollTop / ROW_HEIGHT) - SPARE_ROWS);
    const last = Math.min(
      trace.rows.length - 1,
      Math.ceil((this.node.scrollTop + this.node.clientHeight) / ROW_HEIGHT) + SPARE_ROWS,
    );
    for (const [index, row] of this.shown) {
      if (index < first || index > last) {
        row.remove();
        this.shown.delete(index);
      }
    }
    const fresh = document.createDocumentFragment();
    for (let index = first; index <= last; index++) {
      if (this.shown.has(index)) continue;
      const row = this.row(trace.rows[index]);
      row.style.top = `${index * ROW_HEIGHT}px`;
      this.shown.set(index, row);
      fresh.append(row);
    }
    this.body.append(fresh);
    this.drawLines(first, last);
  }

  row(row) {
    const lane = trace.threadOf.get(row.thread).lane;
    const current = row.index === player.position;
    const what = element(
      "span",
      { class: "what " + threadClass(row.thread) },
      element("span", { class: "badge " + threadClass(row.thread) }, String(row.thread)),
      element(
        "span",
        { class: "line-number", "--depth": Math.min(row.depth, 6) },
        String(row.place.line),
      ),
      row.operation &&
        element("span", { class: "operation" }, sign(row.operation.kind), row.operation.phrase),
      code(row.place.text.replace(/\s+/g, " "), "text"),
      this.chips(row),
    );
    what.style.marginLeft = `${this.laneLeft(lane) - NUMBER_WIDTH}px`;
    const sameStep = row.index > 0 && trace.rows[row.index - 1].step === row.step;
    return element(
      "div",
      {
        class: "row" + (row.switched ? " switched" : "") + (current ? " current" : ""),
        id: `row-${row.index + 1}`,
        "data-row": row.index,
        role: "option",
        "aria-selected": current ? "true" : "false",
        "aria-posinset": row.index + 1,
        "aria-setsize": trace.rows.length,
        "aria-label": rowText(row),
      },
      element("span", { class: "number" }, sameStep ? "" : String(row.step)),
      what,
    );
  }

  ending({ thread, kind, text }, index) {
    const what = element(
      "span",
      { class: "what " + threadClass(thread) },
      badge(thread),
      sign(kind),
      element("span", { class: "text" }, text),
    );
    const known = trace.threadOf.get(thread);
    what.style.marginLeft = `${this.laneLeft(known ? known.lane : 0) - NUMBER_WIDTH}px`;
    const row = element("div", { class: "ending row" }, element("span", { class: "number" }), what);
    row.style.top = `${(trace.rows.length + index) * ROW_HEIGHT + 4}px`;
    return row;
  }

  chips(row) {
    const chips = row.changes.slice(0, MOST_CHIPS).map(changeChip);
    if (row.changes.length > MOST_CHIPS)
      chips.push(element("span", { class: "chip" }, `+${row.changes.length - MOST_CHIPS}`));
    if (row.branch !== null)
      chips.push(element("span", { class: "chip branch" }, row.branch ? "true" : "false"));
    for (const input of row.inputs)
      chips.push(element("span", { class: "chip input" }, input));
    return chips;
  }

  // The lives of threads, the locks they hold, and the context switches between two rows.
  drawLines(first, last) {
    const top = first * ROW_HEIGHT,
      middle = (index) => (index + 0.5) * ROW_HEIGHT - top;
    const rest = last === trace.rows.length - 1 ? this.endings.length * ROW_HEIGHT : 0;
    const height = (last - first + 1) * ROW_HEIGHT + rest;
    const parts = [];
    for (const thread of trace.threads) {
      const from = thread.born ?? Infinity,
        to = thread.ended ?? Infinity;
      if (from > last || to < first) continue;
      const x = this.laneLeft(thread.lane) + 14;
      const start = from < first ? 0 : middle(from),
        end = to > last ? height : middle(to);
      parts.push(
        svg("line", {
          class: "life " + threadClass(thread.number),
          x1: x,
          x2: x,
          y1: start,
          y2: end,
        }),
      );
    }
    for (const hold of trace.holds) {
      const to = hold.to ?? trace.rows.length;
      if (hold.from > last || to < first) continue;
      const lane = trace.threadOf.get(hold.thread).lane;
      const x = this.laneLeft(lane) - 3 - 5 * hold.slot;
      const start = hold.from < first ? 0 : middle(hold.from) - 8,
        end = to > last ? height : middle(to) + 8;
      parts.push(
        titled(
          svg("rect", {
            class: "held " + threadClass(hold.thread),
            x: x - 1.5,
            width: 3,
            y: start,
            height: Math.max(end - start, 2),
            rx: 1.5,
          }),
          `thread ${hold.thread} holds ${hold.lock}`,
        ),
      );
    }
    for (let index = Math.max(first, 1); index <= last; index++) {
      const row = trace.rows[index];
      if (!row.switched) continue;
      const x1 = this.laneLeft(trace.threadOf.get(trace.rows[index - 1].thread).lane) + 14;
      const x2 = this.laneLeft(trace.threadOf.get(row.thread).lane) + 14;
      const y = index * ROW_HEIGHT - top,
        round = x2 > x1 ? 4 : -4;
      parts.push(
        svg("path", {
          class: "switch",
          d: `M${x1},${y - 5} Q${x1},${y} ${x1 + round},${y} H${x2 - round} Q${x2},${y} ${x2},${y + 5}`,
        }),
      );
    }
    this.lines.replaceChildren(...parts);
    this.lines.style.top = `${top}px`;
    this.lines.setAttribute("width", this.width);
    this.lines.setAttribute("height", Math.max(0, height));
  }

  select(position) {
    if (this.laneWidth === undefined) this.resize();
    const old = this.body.querySelector(".row.current");
    if (old) {
      old.classList.remove("current");
      old.setAttribute("aria-selected", "false");
    }
    this.reveal(position);
    this.fill();
    const row = this.shown.get(position);
    if (!row) return;
    row.classList.add("current");
    row.setAttribute("aria-selected", "true");
    this.node.setAttribute("aria-activedescendant", row.id);
  }

  reveal(position) {
    const top = position * ROW_HEIGHT,
      margin = 3 * ROW_HEIGHT,
      view = this.node.clientHeight - this.header.offsetHeight;
    if (
      top < this.node.scrollTop + margin ||
      top > this.node.scrollTop + view - margin - ROW_HEIGHT
    ) {
      this.node.scrollTop = top - view / 2;
    }
    if (position === trace.rows.length - 1) this.node.scrollTop = this.node.scrollHeight; // the end, too
    const left = this.laneLeft(trace.threadOf.get(trace.rows[position].thread).lane),
      { scrollLeft, clientWidth } = this.node;
    if (left < scrollLeft + NUMBER_WIDTH || left + TEXT_WIDTH / 2 > scrollLeft + clientWidth)
      this.node.scrollLeft = left - NUMBER_WIDTH - 40;
  }

  // On paper nothing can be scrolled.
  showAll() {
    this.node.classList.add("all");
    this.lines.replaceChildren();
    this.body.replaceChildren(
      this.lines,
      ...trace.rows.map((row) => this.row(row)),
      ...this.endings.map((ending, index) => this.ending(ending, index)),
    );
  }
}

// How the execution ends: what each thread is about to do, or waits for.
function endings() {
  const violation = data.violation;
  if (!violation) return [];
  if (violation.waiting.length) {
    return violation.waiting.map(({ thread, what, object, holders }) => ({
      thread,
      kind: "wait",
      text:
        what === "join" && holders.length
          ? `waits for thread ${holders[0]} to end`
          : `waits for ${what} ${object}`,
    }));
  }
  if (violation.accesses.length) {
    return violation.accesses.map(({ thread, write, name, place }) => ({
      thread,
      kind: "wrong",
      text: `about to ${write ? "write" : "read"} ${name}${place ? `, line ${place.line}` : ""}`,
    }));
  }
  return [{ thread: violation.thread, kind: "wrong", text: violation.message }];
}

// A row as a sentence, for the live region and screen readers.
function rowText(row) {
  const parts = [
    `step ${row.step}, thread ${row.thread}, line ${row.place.line}: ${row.place.text}`,
  ];
  if (row.operation) parts.push(row.operation.phrase);
  for (const change of row.changes)
    parts.push(`${change.name} ${change.read ? "is" : "becomes"} ${change.value}`);
  return parts.join("; ");
}
