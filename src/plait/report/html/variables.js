// The shared variables at the current row: value, who wrote it last, and its course as a plot.

const PLOT = { width: 220, height: 26 };

class Variables {
  constructor() {
    this.entries = trace.variables.map((variable) => this.entry(variable));
    const head = ["shared variable", "value", "written by", "over time"].map((name) =>
      element("th", { scope: "col" }, name),
    );
    const filter =
      this.entries.length > 12 &&
      element("input", {
        type: "search",
        placeholder: "filter",
        "aria-label": "filter variables by name",
        class: "filter",
        oninput: (event) => this.filter(event.target.value),
      });
    this.table = element(
      "table",
      { class: "variables", id: "variables" },
      element("thead", {}, element("tr", {}, head)),
      element(
        "tbody",
        {},
        this.entries.map((entry) => entry.row),
      ),
    );
    this.node = element(
      "div",
      {
        class: "pane variables-pane",
        tabindex: 0,
        role: "region",
        "aria-label": "shared variables at the current row",
      },
      filter,
      this.table,
    );
    player.listeners.push((position) => this.update(position));
  }

  entry(variable) {
    const value = element("td", { class: "value" }),
      writer = element("td", { class: "writer" });
    const row = element(
      "tr",
      {},
      element("th", { scope: "row" }, code(variable.name)),
      value,
      writer,
      element("td", { class: "course" }, this.course(variable)),
    );
    return { variable, row, value, writer, shown: null, writtenAt: null };
  }

  update(position) {
    for (const entry of this.entries) {
      const { uses, writes, initial } = entry.variable;
      const use = uses[lastUpTo(uses, position, (each) => each.row)];
      const value = use ? use.value : (initial ?? null);
      if (value !== entry.shown || !entry.value.firstChild) {
        entry.value.replaceChildren(
          value === null
            ? element("span", { class: "unknown", title: "not known before its first use" }, "·")
            : code(value),
        );
        entry.shown = value;
      }
      const writtenAt = writes[lastUpTo(writes, position)] ?? null;
      if (writtenAt !== entry.writtenAt || !entry.writer.firstChild) {
        entry.writtenAt = writtenAt;
        entry.writer.replaceChildren(...this.writer(writtenAt));
      }
      entry.row.classList.toggle("written", writtenAt === position);
      entry.row.classList.toggle(
        "read",
        writtenAt !== position && use !== undefined && use.row === position,
      );
    }
    const last = Math.max(1, trace.rows.length - 1);
    this.table.style.setProperty("--at", String(position / last));
  }

  writer(row) {
    if (row === null) return [element("span", { class: "unknown" }, "initial")];
    const { thread, step } = trace.rows[row];
    return [badge(thread), " ", rowLink(row, `step ${step}`)];
  }

  // Steps for numbers, ticks at the writes for everything else.
  course(variable) {
    const last = Math.max(1, trace.rows.length - 1),
      x = (row) => (row / last) * PLOT.width;
    const points = variable.uses.filter(
      (use, index) => index === 0 || use.value !== variable.uses[index - 1].value,
    );
    const numbers = points.map((use) => Number(use.value));
    const picture = svg("svg", {
      class: "spark",
      viewBox: `0 0 ${PLOT.width} ${PLOT.height}`,
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    });
    if (numbers.every((number) => Number.isFinite(number))) {
      const low = numbers.reduce((one, other) => Math.min(one, other)),
        high = numbers.reduce((one, other) => Math.max(one, other));
      const y = (number) =>
        high === low
          ? PLOT.height / 2
          : PLOT.height - 4 - ((number - low) / (high - low)) * (PLOT.height - 8);
      const from = variable.initial !== undefined ? 0 : x(points[0].row);
      let path = `M${from.toFixed(1)},${y(numbers[0]).toFixed(1)}`;
      points.forEach((use, index) => {
        path += `H${x(use.row).toFixed(1)}V${y(numbers[index]).toFixed(1)}`;
      });
      picture.append(svg("path", { class: "steps", d: path + `H${PLOT.width}` }));
      if (high !== low) titled(picture, `from ${low} to ${high}`);
    } else {
      const ticks = variable.writes
        .map((row) => `M${x(row).toFixed(1)},5V${PLOT.height - 5}`)
        .join("");
      picture.append(svg("path", { class: "ticks", d: ticks || "M0,0" }));
    }
    return element(
      "div",
      {
        class: "course-box",
        onclick: (event) => {
          const box = event.currentTarget.getBoundingClientRect();
          player.go(Math.round(((event.clientX - box.left) / box.width) * last));
        },
      },
      picture,
      element("div", { class: "cursor" }),
    );
  }

  filter(text) {
    for (const entry of this.entries) entry.row.hidden = !entry.variable.name.includes(text);
  }
}
