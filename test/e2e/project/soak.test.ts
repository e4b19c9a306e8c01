/** The judge of `npm run soak`: what it has to find, and what it must not take for a fault. */
import { describe, expect, it } from "vitest";
import { flatness } from "../../../scripts/dev/soak/flat";
import { EVERYTHING, Ledger, Objects, type SeenChange, type Selection, type Stretch } from "../../../scripts/dev/soak/ledger";

const change = (revision: number, type: SeenChange["type"], name: string): SeenChange => ({ revision, type, name, uid: `uid-${name}` });
const CHANGES = [change(11, "ADDED", "a"), change(12, "ADDED", "b"), change(14, "MODIFIED", "a"), change(15, "DELETED", "b")];
const ONLY_A: Selection = { labelSelector: "name=a", matches: (name) => name === "a" };

/** A watcher of everything that is told these. */
function watches(ledger: Ledger, watcher: string, told: readonly SeenChange[], selection = EVERYTHING): Stretch {
  const stretch = { watcher, selection, after: 10, through: 10, count: 0 };
  for (const one of told) {
    ledger.note(watcher, one);
    stretch.count++;
    stretch.through = one.revision;
    if (selection === EVERYTHING) ledger.reached(one.revision);
  }
  return stretch;
}

const ledgerOf = (): Ledger => new Ledger("/things", 10, [{ name: "old", uid: "uid-old", revision: 5 }]);

function objects(...revisions: readonly number[]): Objects {
  const all = new Objects();
  for (const revision of revisions) all.add(revision);
  return all;
}

describe("a ledger", () => {
  it("everybody has everything that he asks for: nothing is wrong, at any look", () => {
    const ledger = ledgerOf();
    const stretches = [
      watches(ledger, "one", CHANGES),
      watches(
        ledger,
        "two",
        CHANGES.filter(({ name }) => name === "a"),
        ONLY_A,
      ),
    ];
    const late = watches(ledger, "late", CHANGES.slice(0, 1));
    ledger.created(11, { name: "a", uid: "uid-a" });
    ledger.deleted("uid-b");
    ledger.begins("anew");
    ledger.told({ watcher: "anew", selection: EVERYTHING, revision: 15, objects: objects(5, 14) });
    ledger.told({ watcher: "some", selection: ONLY_A, revision: 13, objects: objects(11) });
    ledger.look([...stretches, late]);
    expect(ledger.isComplete(late)).toBe(false);
    for (const one of CHANGES.slice(1)) {
      ledger.note("late", one);
      late.count++;
      late.through = one.revision;
    }
    expect(ledger.isComplete(late)).toBe(true);
    ledger.look([...stretches, late], true);
    expect([ledger.problems, ledger.changes]).toEqual([[], 4]);
  });

  it("a create whose acknowledgement comes behind the look that has played it: nothing is wrong", () => {
    const ledger = ledgerOf();
    const stretches = [watches(ledger, "one", CHANGES)];
    ledger.look(stretches);
    ledger.created(11, { name: "a", uid: "uid-a" });
    ledger.look(stretches, true);
    expect(ledger.problems).toEqual([]);
  });

  it.each<[string, (ledger: Ledger) => void, RegExp]>([
    [
      "a change that one lacks",
      (ledger) => ledger.look([watches(ledger, "one", CHANGES), watches(ledger, "two", [...CHANGES.slice(0, 2), ...CHANGES.slice(3)])]),
      /^\/things: two has 3 of 4 changes in \(10, 15\]$/,
    ],
    [
      "a change that one lacks whose watch has ended",
      (ledger) => {
        ledger.ended(watches(ledger, "two", CHANGES.slice(1)));
        ledger.look([watches(ledger, "one", CHANGES)]);
      },
      /two has 3 of 4/,
    ],
    [
      "a last change that one lacks, at rest",
      (ledger) => ledger.look([watches(ledger, "one", CHANGES), watches(ledger, "two", CHANGES.slice(0, 3))], true),
      /two has 3 of 4/,
    ],
    [
      "a change that others were told otherwise",
      (ledger) => {
        watches(ledger, "one", CHANGES);
        watches(ledger, "two", [change(12, "ADDED", "c")]);
      },
      /two was told ADDED c@12 \(uid-c\), others ADDED b@12/,
    ],
    [
      "a change that comes late, and alone",
      (ledger) => {
        ledger.look([watches(ledger, "one", CHANGES)]);
        ledger.note("two", change(13, "ADDED", "c"));
      },
      /two was told ADDED c@13 \(uid-c\), and nobody else$/,
    ],
    [
      "an acknowledged create that nobody was told of",
      (ledger) => {
        ledger.created(13, { name: "c", uid: "uid-c" });
        ledger.look([watches(ledger, "one", CHANGES)]);
      },
      /the create of c at 13 was acknowledged, and watchers were told nothing/,
    ],
    [
      "a create that was acknowledged behind a look, and that nobody was told of",
      (ledger) => {
        ledger.look([watches(ledger, "one", CHANGES)]);
        ledger.created(13, { name: "c", uid: "uid-c" });
      },
      /the create of c at 13 was acknowledged late, and watchers were told nothing/,
    ],
    [
      "an acknowledged create that has another revision",
      (ledger) => {
        ledger.created(11, { name: "c", uid: "uid-c" });
        ledger.look([watches(ledger, "one", CHANGES)]);
      },
      /the create of c at 11 .* were told ADDED a@11/,
    ],
    [
      "an acknowledged deletion that nobody was told of",
      (ledger) => {
        ledger.deleted("uid-a");
        ledger.look([watches(ledger, "one", CHANGES)], true);
      },
      /the deletion of uid-a was acknowledged, and nobody was told/,
    ],
    [
      "an object that is added twice",
      (ledger) => ledger.look([watches(ledger, "one", [change(11, "ADDED", "a"), change(12, "ADDED", "a")])]),
      /ADDED a at 12: it was there/,
    ],
    [
      "a deletion of what is not there",
      (ledger) => ledger.look([watches(ledger, "one", [change(11, "DELETED", "a")])]),
      /DELETED a at 11: it was not there/,
    ],
    [
      "a start with too few objects",
      (ledger) => {
        ledger.told({ watcher: "anew", selection: EVERYTHING, revision: 13, objects: objects(5, 11) });
        ledger.look([watches(ledger, "one", CHANGES)]);
      },
      /anew began with 2 objects at 13, where 3 were/,
    ],
    [
      "a start with an object of before",
      (ledger) => {
        ledger.told({ watcher: "anew", selection: EVERYTHING, revision: 15, objects: objects(5, 11) });
        ledger.look([watches(ledger, "one", CHANGES)]);
      },
      /anew began with 2 objects at 15, where 2 were/,
    ],
    [
      "a start from before it was asked for",
      (ledger) => {
        watches(ledger, "one", CHANGES);
        ledger.begins("anew");
        ledger.told({ watcher: "anew", selection: EVERYTHING, revision: 14, objects: objects(5, 14) });
      },
      /anew began at 14, where others had everything up to 15 before/,
    ],
  ])("%s: is told", (_, play, problem) => {
    const ledger = ledgerOf();
    play(ledger);
    expect(ledger.problems).toEqual([expect.stringMatching(problem)]);
  });
});

describe("memory", () => {
  const many = (mib: number): number[] => Array.from({ length: 40 }, (_, at) => mib + (at % 7));

  it("the first third rises, single samples jump: it is flat", () => {
    const samples = [...many(100), ...many(300), ...many(310)];
    samples[90] = 900;
    expect(flatness(samples)).toEqual({ thirds: [103, 303, 313], isFlat: true });
  });

  it("the last third has a quarter more than the one before: it grows", () => {
    expect(flatness([...many(200), ...many(300), ...many(375)]).isFlat).toBe(false);
  });

  it("no samples: nothing is known to be flat", () => {
    expect(flatness([]).isFlat).toBe(false);
  });
});
