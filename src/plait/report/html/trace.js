// The trace and what follows from it: lives of threads, context switches, values of shared
// variables over time, and who holds which lock. `data.py` is the other half of the format.

const data = JSON.parse(document.getElementById("data").textContent);

const TAKING = new Set(["lock", "trylock", "read-lock", "write-lock", "wake"]);

class Trace {
  constructor() {
    this.places = data.places.map(([file, line, column, text, fn]) => ({
      file,
      line,
      column,
      text,
      function: fn,
    }));
    this.rows = data.trace.map((row, index) => this.unpacked(row, index));
    this.switches = this.rows.filter((row) => row.switched).map((row) => row.index);
    this.threads = this.livesOfThreads();
    this.variables = this.sharedVariables();
    this.holds = this.heldLocks();
    this.rowsAtLine = new Map();
    for (const row of this.rows) {
      const key = `${row.place.line}:${row.place.file}`;
      if (!this.rowsAtLine.has(key)) this.rowsAtLine.set(key, []);
      this.rowsAtLine.get(key).push(row.index);
    }
  }

  unpacked(
    [step, thread, place, changes, operation, depth, branch, inputs, entered, returned],
    index,
  ) {
    return {
      index,
      step,
      thread,
      depth,
      branch,
      inputs,
      entered,
      returned,
      place: this.places[place],
      operation: operation === null ? null : data.operations[operation],
      changes: changes.map(([name, value, flags]) => ({
        name: data.names[name],
        value,
        read: (flags & 1) !== 0,
        shared: (flags & 2) !== 0,
      })),
      switched: index > 0 && data.trace[index - 1][1] !== thread,
    };
  }

  // `rows` are those of the thread; it exists from row `born` and has ended with row `ended`.
  livesOfThreads() {
    this.threadOf = new Map();
    const known = (number) => {
      if (!this.threadOf.has(number)) {
        this.threadOf.set(number, {
          number,
          function: "",
          creator: null,
          place: null,
          rows: [],
          born: null,
          ended: null,
        });
      }
      return this.threadOf.get(number);
    };
    for (const thread of data.threads) Object.assign(known(thread.number), thread);
    for (const row of this.rows) {
      const thread = known(row.thread);
      thread.rows.push(row.index);
      if (thread.born === null) thread.born = row.index;
      const operation = row.operation;
      if (
        operation &&
        operation.kind === "create" &&
        operation.thread !== null &&
        operation.thread !== row.thread
      ) {
        known(operation.thread).born ??= row.index;
      }
      if (operation && operation.kind === "join" && operation.thread !== null) {
        const joined = known(operation.thread);
        joined.ended ??= joined.rows.length ? joined.rows[joined.rows.length - 1] : row.index;
      }
    }
    for (const thread of this.threadOf.values()) {
      const last = this.rows[thread.rows[thread.rows.length - 1]];
      const exits = last && last.operation && last.operation.kind === "exit";
      if (exits || (last && last.returned && last.depth === 0)) thread.ended ??= last.index;
    }
    const threads = [...this.threadOf.values()].sort((one, other) => one.number - other.number);
    threads.forEach((thread, lane) => {
      thread.lane = lane;
    });
    return threads;
  }

  sharedVariables() {
    const found = new Map();
    for (const row of this.rows) {
      for (const change of row.changes) {
        if (!change.shared) continue;
        if (!found.has(change.name))
          found.set(change.name, { name: change.name, uses: [], writes: [] });
        const variable = found.get(change.name);
        variable.uses.push({ row: row.index, value: change.value });
        if (!change.read) variable.writes.push(row.index);
        // What is read first is what was there from the beginning.
        else if (variable.uses.length === 1) variable.initial = change.value;
      }
    }
    const names = new Intl.Collator("en", { numeric: true });
    return [...found.values()].sort((one, other) => names.compare(one.name, other.name));
  }

  // The intervals of rows in which a thread holds a lock; `slot` tells apart those of one thread. A
  // thread that waits for a condition gives its mutex back until it wakes.
  heldLocks() {
    const holds = [],
      open = [];
    const take = (row, lock) => {
      const mine = open.filter((hold) => hold.thread === row.thread);
      let slot = 0;
      while (mine.some((hold) => hold.slot === slot)) slot++;
      const hold = { thread: row.thread, lock, from: row.index, to: null, slot };
      holds.push(hold);
      open.push(hold);
    };
    const release = (row, isIt) => {
      const index = open.findLastIndex(isIt);
      if (index >= 0) open.splice(index, 1)[0].to = row.index;
    };
    for (const row of this.rows) {
      if (!row.operation || !row.operation.succeeded) continue;
      const { kind, object } = row.operation,
        lock = row.operation.lock || object;
      if (TAKING.has(kind)) take(row, lock);
      else if (kind === "unlock" || kind === "wait")
        release(row, (hold) => hold.thread === row.thread && hold.lock === lock);
      else if (kind === "post") release(row, (hold) => hold.lock === object); // a semaphore: by anybody
    }
    return holds;
  }

  // The locks that a thread holds after a row.
  heldBy(thread, row) {
    const held = this.holds.filter(
      (hold) => hold.thread === thread && hold.from <= row && (hold.to === null || hold.to > row),
    );
    return held.map((hold) => hold.lock);
  }

  // The row that a cause, an access or an input speaks of: in its step, best with its line.
  find(step, thread, place) {
    if (step === null || step === undefined) return null;
    const rows = this.rows.filter((row) => row.step === step);
    const fits = (row) =>
      2 * (row.thread === thread) +
      (place !== null && row.place.line === place.line && row.place.file === place.file);
    rows.sort((one, other) => fits(other) - fits(one) || one.index - other.index);
    return rows.length ? rows[0].index : null;
  }

  // Where each thread is after the row `position`: the one that has just acted at its row, another
  // one where it will go on, or where it stopped for good.
  standing(position) {
    const found = [];
    for (const thread of this.threads) {
      const { rows, born, ended } = thread;
      if (born === null || born > position || (ended !== null && ended < position)) continue;
      if (this.rows[position].thread === thread.number) {
        found.push({ thread: thread.number, place: this.rows[position].place, current: true });
        continue;
      }
      const next = rows[lastUpTo(rows, position) + 1];
      const place = next !== undefined ? this.rows[next].place : this.lastPlace(thread);
      if (place) found.push({ thread: thread.number, place, current: false });
    }
    return found;
  }

  lastPlace(thread) {
    const waiting =
      data.violation && data.violation.waiting.find((each) => each.thread === thread.number);
    if (waiting && waiting.place) return waiting.place;
    const access =
      data.violation && data.violation.accesses.find((each) => each.thread === thread.number);
    if (access && access.place) return access.place;
    return thread.rows.length ? this.rows[thread.rows[thread.rows.length - 1]].place : null;
  }
}

// The index of the last of the ascending `numbers` that is at most `limit`, or -1.
function lastUpTo(numbers, limit, key = (number) => number) {
  let low = 0,
    high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (key(numbers[middle]) <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

const trace = new Trace();
