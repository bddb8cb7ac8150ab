// The page, put together: only what there is something to say about.

function toolbar() {
  const last = trace.rows.length - 1;
  const shape = (path) =>
    svg(
      "svg",
      { class: "shape", viewBox: "0 0 14 14", width: 14, height: 14, "aria-hidden": "true" },
      svg("path", { d: path }),
    );
  const [first, back, forward, end] = [
    "M2 2h2v10H2zM13 2v10L5 7z",
    "M11 2v10L3 7z",
    "M3 2v10l8-5z",
    "M10 2h2v10h-2zM1 2v10l8-5z",
  ].map((path) => () => shape(path));
  const button = (label, action, ...signs) =>
    element(
      "button",
      { type: "button", title: label, "aria-label": label, onclick: action },
      signs,
    );
  const slider = element("input", {
    type: "range",
    min: 0,
    max: last,
    value: 0,
    step: 1,
    id: "slider",
    "aria-label": "row of the timeline",
    oninput: (event) => player.go(Number(event.target.value)),
  });
  const count = element("span", { class: "count", id: "count" });
  const now = element("div", {
    class: "now",
    id: "now",
    "aria-live": "polite",
    "aria-atomic": "true",
  });
  player.listeners.push((position) => {
    const row = trace.rows[position];
    slider.value = position;
    slider.setAttribute("aria-valuetext", `row ${position + 1} of ${last + 1}`);
    count.textContent = `step ${row.step} · row ${position + 1} of ${last + 1}`;
    now.replaceChildren(...nowParts(row));
  });
  return element(
    "div",
    { class: "toolbar" },
    element(
      "div",
      { class: "controls", role: "toolbar", "aria-label": "steps" },
      button("first row (Home)", keys.Home, first()),
      button("previous context switch (p)", keys.p, back(), " switch"),
      button("back (left arrow or k)", keys.k, back()),
      button("forward (right arrow or j)", keys.j, forward()),
      button("next context switch (n)", keys.n, "switch ", forward()),
      button("last row (End)", keys.End, end()),
      slider,
      count,
    ),
    now,
  );
}

function nowParts(row) {
  const parts = [...threadName(row.thread)];
  if (row.place.function) parts.push(" in ", code(row.place.function));
  parts.push(" ", placeLink(row.place), " ", code(row.place.text, "statement"));
  if (row.operation)
    parts.push(
      element("span", { class: "operation" }, sign(row.operation.kind), row.operation.phrase),
    );
  parts.push(...row.changes.map(changeChip));
  if (row.branch !== null)
    parts.push(
      element("span", { class: "chip branch" }, row.branch ? "condition true" : "condition false"),
    );
  for (const input of row.inputs)
    parts.push(element("span", { class: "chip input" }, input));
  if (row.entered) parts.push(element("span", { class: "chip" }, `calls ${row.entered}`));
  if (row.returned) parts.push(element("span", { class: "chip" }, "returns"));
  const held = trace.heldBy(row.thread, row.index);
  if (held.length) parts.push(element("span", { class: "chip" }, `holds ${held.join(", ")}`));
  return parts;
}

function threadList() {
  return element(
    "ul",
    { class: "threads", "aria-label": "threads" },
    trace.threads.map((thread) =>
      element(
        "li",
        {},
        badge(thread.number),
        " ",
        code(thread.function || `thread ${thread.number}`),
        thread.creator !== null &&
          element(
            "span",
            { class: "origin" },
            " created by ",
            badge(thread.creator),
            " at ",
            placeLink(thread.place) || "?",
          ),
      ),
    ),
  );
}

function executionSection() {
  if (!trace.rows.length) return null;
  const bar = toolbar(),
    lanes = new Lanes();
  const variables = trace.variables.length > 0 && new Variables();
  return section(
    "execution",
    "Execution",
    threadList(),
    bar,
    element(
      "div",
      {
        class: "workspace" + (sourceView.empty && !variables ? " single" : ""),
        "--wanted": `${wantedHeight(variables)}px`,
      },
      element("div", { class: "pane lanes-pane" }, lanes.node),
      (!sourceView.empty || variables) &&
        element(
          "div",
          { class: "side" },
          !sourceView.empty && sourceView.node,
          variables && variables.node,
        ),
    ),
    element(
      "p",
      { class: "help" },
      [
        ["→", "j"],
        ["←", "k"],
      ].map((pair, index) => [
        pair.map((key) => [element("kbd", {}, key), " "]),
        index ? "back · " : "forward · ",
      ]),
      element("kbd", {}, "n"),
      " ",
      element("kbd", {}, "p"),
      " next, previous context switch · ",
      element("kbd", {}, "Home"),
      " ",
      element("kbd", {}, "End"),
      " first, last row · click a row, a line of the source or a plot to go there",
    ),
  );
}

// As high as its contents, within what the style allows.
function wantedHeight(variables) {
  const source = sourceView.empty
    ? 0
    : 60 + 20 * Math.max(...data.sources.map((file) => file.lines.length));
  const side = source + (variables ? 60 + 28 * trace.variables.length : 0);
  return Math.max(
    44 + ROW_HEIGHT * (trace.rows.length + 2),
    side + 20 * data.invariants.length,
    40 + 30 * data.invariants.length,
  );
}

function proofSection() {
  const table = invariantsTable();
  if (trace.rows.length || (!table && sourceView.empty)) return null;
  return section(
    table ? "invariants" : "program",
    table ? "Invariants" : "Program",
    element(
      "div",
      {
        class: "workspace" + (table && !sourceView.empty ? "" : " single"),
        "--wanted": `${wantedHeight(false)}px`,
      },
      table,
      !sourceView.empty && element("div", { class: "side" }, sourceView.node),
    ),
  );
}

function build() {
  const tree = new Tree();
  const sections = [
    executionSection(),
    violationSection(),
    proofSection(),
    trace.rows.length > 0 &&
      data.invariants.length > 0 &&
      section("invariants", "Invariants", invariantsTable()),
    trace.rows.length > 0 && new OrderGraph().node,
    tree.node,
    statisticsSection(),
    notesSection(),
  ].filter(Boolean);
  const links = sections.map((each) =>
    element("a", { href: "#" + each.id }, each.querySelector("h2").textContent),
  );
  document.body.append(
    element(
      "nav",
      { "aria-label": "sections" },
      element("span", { class: "brand" }, "plait"),
      links,
      themeSwitch(),
    ),
    head(),
    element("main", {}, sections),
  );
  if (!sourceView.empty) sourceView.start();
  tree.start();
  if (trace.rows.length) {
    addEventListener("keydown", (event) => player.onKey(event));
    addEventListener("hashchange", () => player.fromHash());
    player.position = 0;
    if (!player.fromHash() || player.position === 0)
      for (const listener of player.listeners) listener(player.position);
  }
  document.documentElement.dataset.ready = "yes";
}

build();
