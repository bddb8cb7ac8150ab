// The source with the current line of each thread, invariants at their lines, and simple colours.

const KEYWORDS = new Set(
  `auto break case const continue default do else enum extern for goto if inline register restrict return
 sizeof static struct switch typedef union volatile while _Alignas _Alignof _Atomic _Generic _Noreturn _Static_assert
 _Thread_local asm typeof __attribute__ __extension__ __inline __restrict __volatile__`.split(
    /\s+/,
  ),
);
const TYPES = new Set(
  `void char short int long float double signed unsigned bool _Bool _Complex size_t ssize_t FILE
 int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t ptrdiff_t`.split(
    /\s+/,
  ),
);
const TOKEN =
  /\/\*|\/\/.*|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|\.?\d(?:[eEpP][+-]|[\w.'])*|[A-Za-z_]\w*|\s+|[^\s\w]/g;

// The line as pieces of text and coloured spans; whether a comment goes on in the next line.
function highlighted(line, inComment) {
  const pieces = [];
  let at = 0;
  const add = (text, className) =>
    pieces.push(className ? element("span", { class: className }, text) : text);
  const comment = (from) => {
    const end = line.indexOf("*/", from);
    add(line.slice(at, end < 0 ? line.length : end + 2), "comment");
    at = end < 0 ? line.length : end + 2;
    return end < 0;
  };
  if (inComment && comment(0)) return [pieces, true];
  const directive = /^\s*#/.test(line.slice(at));
  while (at < line.length) {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(line);
    const token = found ? found[0] : line.slice(at);
    if (token === "/*") {
      if (comment(at + 2)) return [pieces, true];
      continue;
    }
    at += token.length;
    add(token, tokenClass(token, directive));
  }
  return [pieces, false];
}

function tokenClass(token, directive) {
  if (token.startsWith("//")) return "comment";
  if (token[0] === '"' || token[0] === "'") return "string";
  if (directive) return "directive";
  if (/^\.?\d/.test(token)) return "literal";
  if (KEYWORDS.has(token)) return "keyword";
  if (TYPES.has(token) || (/_t$/.test(token) && /^\w/.test(token))) return "type";
  return "";
}

class SourceView {
  constructor() {
    this.files = new Map(
      data.sources.map((source, index) => [
        source.path,
        { ...source, index, lines: source.lines, nodes: null },
      ]),
    );
    this.marked = [];
    this.tabs = element("div", {
      class: "tabs",
      role: "tablist",
      "aria-label": "files",
      onkeydown: (event) => this.onTabKey(event),
    });
    this.text = element("div", {
      class: "source",
      id: "source",
      tabindex: 0,
      role: "region",
      "aria-label": "source text",
    });
    this.node = element("div", { class: "pane source-pane" }, this.tabs, this.text);
    player.listeners.push((position) => this.mark(position));
    addEventListener("beforeprint", () => this.showAll());
    addEventListener("afterprint", () => this.open(this.current, true));
  }

  has(path) {
    return this.files.has(path);
  }

  get empty() {
    return this.files.size === 0;
  }

  start() {
    for (const file of this.files.values()) {
      file.tab = element(
        "button",
        {
          type: "button",
          role: "tab",
          id: `tab-${file.index}`,
          title: file.path,
          "aria-controls": "source",
          onclick: () => this.open(file.path),
        },
        baseName(file.path),
      );
      this.tabs.append(file.tab);
    }
    const at = trace.rows.length ? trace.rows[0].place.file : null;
    this.open(this.has(at) ? at : [...this.files.keys()][0]);
  }

  onTabKey(event) {
    const paths = [...this.files.keys()],
      step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = paths[(paths.indexOf(this.current) + step + paths.length) % paths.length];
    this.open(next);
    this.files.get(next).tab.focus();
  }

  open(path, again = false) {
    const file = this.files.get(path);
    if (!file || (this.current === path && !again)) return;
    this.current = path;
    this.text.replaceChildren(this.rendered(file));
    this.text.setAttribute("aria-labelledby", `tab-${file.index}`);
    for (const other of this.files.values()) {
      other.tab.setAttribute("aria-selected", other === file ? "true" : "false");
      other.tab.tabIndex = other === file ? 0 : -1;
    }
    this.text.scrollTop = 0;
  }

  rendered(file) {
    if (file.block) return file.block;
    const invariants = new Map();
    for (const invariant of data.invariants) {
      if (invariant.place.file !== file.path) continue;
      if (!invariants.has(invariant.place.line)) invariants.set(invariant.place.line, []);
      const { role, holding, text } = invariant;
      const words = [role && `${role}:`, holding && `holding ${holding}:`, text];
      invariants.get(invariant.place.line).push(words.filter(Boolean).join(" "));
    }
    file.nodes = [];
    file.block = element("div", { class: "file" }, element("h3", { class: "on-paper" }, file.path));
    let inComment = false,
      pieces;
    file.lines.forEach((text, index) => {
      const number = index + 1;
      [pieces, inComment] = highlighted(text, inComment);
      const rows = trace.rowsAtLine.get(`${number}:${file.path}`);
      const marks = element("span", { class: "marks" });
      const line = element(
        "div",
        {
          class: "line" + (rows ? " executed" : ""),
          "data-line": number,
          title: rows
            ? `${rows.length} ${rows.length === 1 ? "row" : "rows"} here; click for the next one`
            : null,
          onclick: rows && (() => player.nextAt(file.path, number)),
        },
        marks,
        element("span", { class: "line-number" }, String(number)),
        element("code", {}, pieces),
      );
      for (const invariant of invariants.get(number) || []) {
        file.block.append(
          element(
            "div",
            { class: "line invariant", title: "holds whenever a thread is at the line below" },
            element("span", { class: "marks" }),
            element("span", { class: "line-number" }, "⊢"),
            code(invariant),
          ),
        );
      }
      file.block.append(line);
      file.nodes.push({ line, marks });
    });
    return file.block;
  }

  // Shows the current line of each thread, and of the thread that acts the values as well.
  mark(position) {
    for (const { line, marks } of this.marked) {
      line.classList.remove("here", "current", ...line.threads);
      marks.replaceChildren();
      if (line.values) line.values.remove();
    }
    this.marked = [];
    if (!trace.rows.length || this.empty) return;
    const row = trace.rows[position];
    this.open(row.place.file);
    const standing = trace.standing(position).sort((one, other) => other.current - one.current);
    for (const { thread, place, current } of standing) {
      const file = this.files.get(place.file);
      if (!file) continue;
      this.rendered(file);
      const node = file.nodes[place.line - 1];
      if (!node) continue;
      if (!this.marked.includes(node)) {
        node.line.threads = [threadClass(thread)];
        node.line.classList.add("here", threadClass(thread));
        this.marked.push(node);
      }
      if (current) {
        node.line.classList.add("current");
        node.line.values = this.values(row);
        node.line.append(node.line.values);
        this.reveal(place.file, place.line, false);
      }
      node.marks.append(badge(thread));
    }
  }

  values(row) {
    const text = row.changes
      .map((change) => `${change.name} ${change.read ? "is" : "="} ${change.value}`)
      .join(", ");
    return element("span", { class: "values" }, text);
  }

  reveal(path, number, flash = true) {
    this.open(path);
    const node = this.files.get(path).nodes[number - 1];
    if (!node) return;
    const line = node.line,
      view = this.text;
    const top = line.offsetTop,
      room = view.clientHeight;
    if (flash || top < view.scrollTop + 30 || top > view.scrollTop + room - 60)
      view.scrollTop = top - room / 2;
    if (!flash) return;
    line.classList.add("flash");
    setTimeout(() => line.classList.remove("flash"), 1500);
    const box = view.getBoundingClientRect();
    if (box.bottom < 60 || box.top > window.innerHeight - 60)
      view.scrollIntoView({ block: "center" });
  }

  showAll() {
    this.text.replaceChildren(...[...this.files.values()].map((file) => this.rendered(file)));
  }
}

const sourceView = new SourceView();
