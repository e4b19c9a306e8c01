/**
 * The counters of instrumented code, wherever the code runs: in Node, in workerd, in a bundle. Istanbul keeps them in one global variable. They are taken
 * as what happened since they were taken last, so that the parts of many processes add up. Plain JavaScript without imports: it becomes a part of all these.
 */

/**
 * What has a count, of each file: statements, functions, and the arms of branches.
 * @typedef {{ s: Record<string, number>; f: Record<string, number>; b: Record<string, number[]> }} FileCounters
 * @typedef {Record<string, FileCounters>} Counters
 */

/** The global function that ends the regular taking of counters in a Node process. */
export const STOP = Symbol.for("servicenet.coverage.stop");

/** @returns {Counters} the variable that the instrumented code makes and uses */
function counted() {
  return /** @type {{ __coverage__?: Counters }} */ (globalThis).__coverage__ ?? {};
}

/**
 * The counts since the last call, without zeros; undefined where nothing ran.
 * @returns {Counters | undefined}
 */
export function takeCounters() {
  /** @type {Counters} */
  const taken = {};
  for (const [path, { s, f, b }] of Object.entries(counted())) {
    const file = { s: takeNumbers(s), f: takeNumbers(f), b: takeArms(b) };
    if (Object.values(file).some((counts) => Object.keys(counts).length > 0)) taken[path] = file;
  }
  return Object.keys(taken).length > 0 ? taken : undefined;
}

/** @param {Record<string, number>} counts */
function takeNumbers(counts) {
  /** @type {Record<string, number>} */
  const taken = {};
  for (const id in counts) {
    if (!counts[id]) continue;
    taken[id] = counts[id];
    counts[id] = 0;
  }
  return taken;
}

/** @param {Record<string, number[]>} branches */
function takeArms(branches) {
  /** @type {Record<string, number[]>} */
  const taken = {};
  for (const id in branches) {
    const arms = branches[id] ?? [];
    if (!arms.some((count) => count > 0)) continue;
    taken[id] = [...arms];
    arms.fill(0);
  }
  return taken;
}

/**
 * Adds counts to those of the same files. Files that `to` does not have are left out.
 * @param {Counters} taken
 * @param {Counters} [to]
 */
export function addCounters(taken, to = counted()) {
  for (const [path, { s, f, b }] of Object.entries(taken)) {
    const file = to[path];
    if (!file) continue;
    for (const [id, count] of Object.entries(s)) file.s[id] = (file.s[id] ?? 0) + count;
    for (const [id, count] of Object.entries(f)) file.f[id] = (file.f[id] ?? 0) + count;
    for (const [id, arms] of Object.entries(b)) {
      const all = (file.b[id] ??= []);
      for (const [i, count] of arms.entries()) all[i] = (all[i] ?? 0) + count;
    }
  }
}
