// What the run took, in words; a plot for each number that changed in the course of it; and all
// numbers, folded, for those who know the engines.

function statisticsSection() {
  const plots = historyPlots();
  const rows = Object.entries(data.statistics).filter(([, value]) => value !== null);
  if (!plots.length && !rows.length) return null;
  return section(
    "statistics",
    "Statistics",
    effort(),
    plots.length > 0 && element("div", { class: "plots" }, plots),
    timeBars(),
    rows.length > 0 &&
      element(
        "details",
        { class: "internals" },
        element("summary", {}, `All ${rows.length} numbers`),
        element(
          "dl",
          { class: "numbers" },
          rows.map(([name, value]) =>
            element(
              "div",
              {},
              element("dt", {}, spaced(name)),
              element("dd", {}, shownNumber(name, value)),
            ),
          ),
        ),
      ),
  );
}

// As far as it is known.
function effort() {
  const numbers = data.statistics;
  const wall = duration(numbers.wall_seconds ?? numbers.seconds);
  if (!wall) return null;
  const cpu = duration(numbers.cpu_seconds),
    memory = size(numbers.peak_memory_bytes);
  const parts = Object.entries(numbers).filter(
    ([name, value]) =>
      /_seconds$/.test(name) && !/^(wall|cpu)_/.test(name) && typeof value === "number",
  );
  parts.sort(([, one], [, other]) => other - one);
  const longest = parts.length && parts[0][1] > 0 ? parts[0] : null;
  return element(
    "p",
    { class: "effort" },
    `It took ${wall}`,
    cpu && ` (${cpu} of CPU time)`,
    memory && ` and ${memory} of memory`,
    longest && `; the longest part was ${spaced(longest[0])}, ${duration(longest[1])}`,
    ".",
  );
}

// Where the time went. Parts may contain each other, so each has a bar of its own.
function timeBars() {
  const all = data.statistics.wall_seconds;
  const parts = Object.entries(data.statistics).filter(
    ([name, value]) => /_seconds$/.test(name) && typeof value === "number" && value > 0,
  );
  if (typeof all !== "number" || !(all > 0) || parts.length < 3) return null;
  parts.sort(([, one], [, other]) => other - one);
  return element(
    "dl",
    { class: "bars" },
    parts.map(([name, seconds]) =>
      element(
        "div",
        {},
        element("dt", {}, spaced(name)),
        element("dd", {}, element("span", { class: "bar", "--part": Math.min(1, seconds / all) })),
        element("dd", { class: "number" }, duration(seconds)),
      ),
    ),
  );
}

function spaced(name) {
  return name.replaceAll("_", " ").replace(/ (seconds|bytes)$/, "");
}

function shownNumber(name, value) {
  if (typeof value === "number" && /(^|_)seconds$/.test(name)) return duration(value);
  if (typeof value === "number" && /_bytes$/.test(name)) return size(value);
  if (typeof value === "number") return grouped(value);
  return typeof value === "string" ? value : JSON.stringify(value);
}

function grouped(number) {
  const text = Number.isInteger(number) ? String(number) : String(Number(number.toPrecision(4)));
  const [whole, fraction] = text.split(".");
  return /e/.test(text)
    ? text
    : whole.replace(/\B(?=(\d{3})+$)/g, "\u202f") + (fraction ? "." + fraction : "");
}

function historyPlots() {
  const names = [...new Set(data.history.flatMap((entry) => Object.keys(entry)))].filter(
    (name) => name !== "seconds",
  );
  return names
    .map((name) => {
      const points = data.history
        .map((entry) => [entry.seconds, entry[name]])
        .filter((point) => point.every((value) => typeof value === "number"));
      const changes = points.some(([, value]) => value !== points[0][1]);
      return changes ? plot(name, points) : null;
    })
    .filter(Boolean);
}

function plot(name, points) {
  const box = { left: 8, right: 252, top: 30, bottom: 118 };
  const seconds = points.map(([at]) => at),
    values = points.map(([, value]) => value);
  const range = (list) => [
    list.reduce((one, other) => Math.min(one, other)),
    list.reduce((one, other) => Math.max(one, other)),
  ];
  const [, end] = range(seconds),
    [, high] = range(values);
  const low = Math.min(0, range(values)[0]);
  const x = (at) => box.left + (end ? at / end : 0) * (box.right - box.left);
  const y = (value) =>
    box.bottom - (high > low ? (value - low) / (high - low) : 0) * (box.bottom - box.top);
  const path = points
    .map(([at, value], index) => `${index ? "L" : "M"}${x(at).toFixed(1)},${y(value).toFixed(1)}`)
    .join("");
  const area = `${path}L${x(seconds[seconds.length - 1]).toFixed(1)},${box.bottom}L${x(seconds[0]).toFixed(1)},${box.bottom}z`;
  const last = values[values.length - 1];
  return element(
    "figure",
    { class: "plot" },
    svg(
      "svg",
      {
        viewBox: "0 0 260 138",
        role: "img",
        "aria-label": `${spaced(name)} over time, at the end ${shownNumber(name, last)}`,
      },
      svg("line", { class: "axis", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }),
      svg("path", { class: "area", d: area }),
      svg("path", { class: "course", d: path }),
      points.length <= 40 &&
        points.map(([at, value]) =>
          titled(
            svg("circle", { cx: x(at), cy: y(value), r: 2.5 }),
            `${shownNumber(name, value)} after ${duration(at)}`,
          ),
        ),
      svg("text", { class: "title", x: box.left, y: 16 }, clipped(spaced(name), 24)),
      svg(
        "text",
        { class: "number", x: box.right, y: 16, "text-anchor": "end" },
        String(shownNumber(name, last)),
      ),
      svg("text", { class: "tick", x: box.left, y: 133 }, "0 s"),
      svg("text", { class: "tick", x: box.right, y: 133, "text-anchor": "end" }, duration(end)),
    ),
  );
}

function notesSection() {
  const settings = Object.entries(data.settings).filter(([, value]) => value !== null);
  const parts = [
    data.assumptions.length > 0 &&
      element(
        "div",
        { class: "part" },
        element("h3", {}, "Assumptions"),
        element(
          "ul",
          {},
          data.assumptions.map((text) => element("li", {}, text)),
        ),
      ),
    data.unsupported.length > 0 &&
      element(
        "div",
        { class: "part" },
        element("h3", {}, "Not supported"),
        element(
          "ul",
          {},
          data.unsupported.map((each) =>
            element("li", {}, each.message, each.file && [" at ", placeLink(each)]),
          ),
        ),
      ),
    settings.length > 0 &&
      element(
        "div",
        { class: "part" },
        element("h3", {}, "Settings"),
        element(
          "ul",
          {},
          settings.map(([name, value]) =>
            element(
              "li",
              {},
              `${spaced(name)}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
            ),
          ),
        ),
      ),
    data.report &&
      element(
        "div",
        { class: "part" },
        element("h3", {}, "Internal error"),
        element("p", {}, "details are in ", code(data.report)),
      ),
  ].filter(Boolean);
  return parts.length
    ? section("notes", "What this relies on", element("div", { class: "parts" }, parts))
    : null;
}
