// The head of the page: the verdict, what was asked, and what it took.

const VERDICT_SIGNS = { true: "✓", false: "✗", unknown: "?" };

function head() {
  const facts = [
    ["Files", data.files.join(", ")],
    [data.properties.length === 1 ? "Property" : "Properties", data.properties.join(", ")],
    ["Engine", data.engine],
    ["Loop bound", data.bound],
    ["Time", duration(data.statistics.wall_seconds ?? data.statistics.seconds)],
    ["Memory", size(data.statistics.peak_memory_bytes)],
    ["Entry", data.entry === "main" ? null : data.entry],
    ["Data model", data.data_model],
    ["plait", data.version],
  ].filter(([, value]) => value !== null && value !== undefined && value !== "");
  // The last of the words repeats the facts.
  const words = data.words
    .filter((text) => !text.startsWith(`engine ${data.engine},`))
    .map(sentence);
  const [first, ...others] = words.length ? words : [data.reason];
  return element(
    "header",
    { class: "head verdict-" + data.verdict },
    element(
      "h1",
      {},
      element(
        "span",
        { class: "verdict" },
        element(
          "span",
          { class: "sign", "aria-hidden": "true" },
          VERDICT_SIGNS[data.verdict] || "",
        ),
        data.verdict,
      ),
      element("span", { class: "lead" }, first),
    ),
    others.map((text) => element("p", { class: "words" }, text)),
    data.verdict === "unknown" &&
      words.length > 0 &&
      !data.words.some((text) => text.includes(data.reason)) &&
      element("p", { class: "words" }, sentence(data.reason)),
    element(
      "dl",
      { class: "facts" },
      facts.map(([name, value]) =>
        element("div", {}, element("dt", {}, name), element("dd", {}, String(value))),
      ),
    ),
  );
}

function sentence(text) {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function duration(seconds) {
  if (typeof seconds !== "number") return null;
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  return seconds < 100
    ? `${seconds.toFixed(1)} s`
    : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

function size(bytes) {
  return typeof bytes === "number" ? `${Math.round(bytes / 1048576)} MiB` : null;
}

function themeSwitch() {
  const root = document.documentElement;
  const dark = () =>
    (root.dataset.theme ||
      (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const button = element("button", {
    type: "button",
    class: "theme",
    id: "theme",
    onclick: () => {
      root.dataset.theme = dark() ? "light" : "dark";
      remember();
      named();
    },
  });
  const remember = () => {
    try {
      localStorage.setItem("plait-theme", root.dataset.theme);
    } catch {
      /* not from every file:// */
    }
  };
  const named = () => {
    button.textContent = dark() ? "☀ Light" : "☾ Dark";
    button.setAttribute(
      "aria-label",
      dark() ? "switch to light colours" : "switch to dark colours",
    );
  };
  try {
    const stored = localStorage.getItem("plait-theme");
    if (stored === "light" || stored === "dark") root.dataset.theme = stored;
  } catch {
    /* the preference of the system is good enough */
  }
  named();
  return button;
}
