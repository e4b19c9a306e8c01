/**
 * Work that is counted, not timed: characters of JSON, members and elements that pass through what the engine offers for whole containers. Loops over
 * single elements are not seen; what they build (maps, sets, lists of names) is.
 */

type Method = (this: unknown, ...args: unknown[]) => unknown;

interface Counted {
  owner: object;
  name: string;
  cost(this: void, self: unknown, args: readonly unknown[], result: unknown): number;
}

/** Characters of JSON that cost about as much as one member. */
const CHARACTERS = 8;

const lengthOf = (value: unknown): number =>
  typeof value === "string" ? value.length / CHARACTERS : Array.isArray(value) ? value.length : 0;
const ofResult: Counted["cost"] = (_self, _args, result) => 1 + lengthOf(result);
const ofOne: Counted["cost"] = () => 1;
const ofMembers: Counted["cost"] = (_self, args) => 1 + args.reduce((sum: number, arg) => sum + lengthOf(arg), 0);

const COUNTED: readonly Counted[] = [
  { owner: Object, name: "keys", cost: ofResult },
  { owner: Object, name: "values", cost: ofResult },
  { owner: Object, name: "entries", cost: ofResult },
  { owner: Object, name: "hasOwn", cost: ofOne },
  { owner: JSON, name: "parse", cost: ofMembers },
  { owner: JSON, name: "stringify", cost: ofResult },
  { owner: Map.prototype, name: "get", cost: ofOne },
  { owner: Map.prototype, name: "set", cost: ofOne },
  { owner: Map.prototype, name: "has", cost: ofOne },
  { owner: Set.prototype, name: "add", cost: ofOne },
  { owner: Set.prototype, name: "has", cost: ofOne },
  ...["filter", "map", "concat", "slice", "some", "every", "forEach", "indexOf", "includes", "find", "findIndex", "join"].map((name) => ({
    owner: Array.prototype,
    name,
    cost: (self: unknown) => 1 + lengthOf(self),
  })),
  ...["slice", "replace", "replaceAll", "split"].map((name) => ({ owner: String.prototype, name, cost: ofText })),
];

/** A text that is built of others is put together when it is read. */
function ofText(_self: unknown, _args: readonly unknown[], result: unknown): number {
  return 1 + lengthOf(result);
}

/** The work of a synchronous call, in members. */
export function countedWork(work: () => unknown): number {
  let total = 0;
  const originals = COUNTED.map(({ owner, name }) => Reflect.get(owner, name) as Method);
  COUNTED.forEach(({ owner, name, cost }, i) => {
    const original = originals[i] as Method;
    const counted: Method = function (...args) {
      const result = Reflect.apply(original, this, args);
      total += cost(this, args, result);
      return result;
    };
    Reflect.set(owner, name, counted);
  });
  try {
    work();
  } finally {
    originals.forEach((original, i) => {
      const { owner, name } = COUNTED[i] as Counted;
      Reflect.set(owner, name, original);
    });
  }
  return total;
}
