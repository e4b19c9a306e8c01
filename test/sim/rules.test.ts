/**
 * The rules of a cluster as one text, while roles and bindings change, and calls and objects are lost: every answer has what was committed before the
 * question, and nothing that never was.
 */
import { describe, expect, it } from "vitest";
import { policyFrom } from "../../src/access/rbac/compiled-policy";
import { defaultPolicy } from "../../src/access/rbac/default-policy";
import { RBAC_KINDS } from "../../src/access/rbac/followed-policy";
import type { RbacKind } from "../../src/access/rbac/policy";
import { RULES_UNREAD } from "../../src/api/rpc/policy";
import type { WriteRequest } from "../../src/api/rpc/store";
import type { WordRandom } from "../../src/core/base/word-random";
import { SimRules, rulesOf } from "../support/sim/rules";
import { SimulatedCrash } from "../support/sim/platform/journal";
import { NO_FAULTS } from "../support/sim/platform/network";
import { pick, seededRandom } from "../support/sim/platform/seeded-random";
import { firstSeeds, itOfSeeds } from "../support/sim/platform/seeds";
import { DELETE, WRITE } from "../support/worlds/store-world";

const GROUP = "rbac.authorization.k8s.io";
const STEPS = 60;
const TRUSTED_MS = 60_000;
const HOUR_MS = 3_600_000;
const options = { ...WRITE, group: GROUP, version: "v1" };

const isOfCluster = (kind: RbacKind): boolean => kind.startsWith("Cluster");

function objectOf(kind: RbacKind, name: string, word: string): object {
  const metadata = { name, ...(isOfCluster(kind) ? {} : { namespace: "a" }) };
  if (!kind.endsWith("Binding")) return { metadata, rules: [{ verbs: [word], apiGroups: [""], resources: ["pods"] }] };
  const roleRef = { apiGroup: GROUP, kind: isOfCluster(kind) ? "ClusterRole" : "Role", name: "r1" };
  return { metadata, roleRef, subjects: [{ apiGroup: GROUP, kind: "User", name: word }] };
}

function randomWrite(random: WordRandom, kind: RbacKind): WriteRequest {
  const name = pick(random, ["r1", "r2"]);
  const key = { namespace: isOfCluster(kind) ? "" : "a", name };
  if (random.below(3) === 0) return { verb: "delete", key, options: DELETE };
  // PUT creates what is not there.
  return { verb: "update", key, subresource: "", object: JSON.stringify(objectOf(kind, name, `w${String(random.below(1_000))}`)), options };
}

/** A question, and whether its answer is what each store had at some time between question and answer. */
class Isolate {
  version = "";
  text = "";
  answers = 0;
  unchanged = 0;

  constructor(private readonly rules: SimRules) {}

  async ask(): Promise<void> {
    const from = new Map(RBAC_KINDS.map((kind) => [kind, this.rules.had[kind].length - 1]));
    const { version } = this;
    const answer = await this.rules.ask(version);
    expect(answer.kind).not.toBe("tooLarge");
    // An answer that another one has overtaken is right for its own question, and is judged by the text that it speaks of.
    const text = answer.kind === "policy" ? answer.text : version === this.version ? this.text : undefined;
    if (text === undefined) return;
    this.answers++;
    if (answer.kind === "policy") [this.version, this.text] = [answer.version, answer.text];
    else this.unchanged++;
    for (const kind of RBAC_KINDS) expect(this.rules.had[kind].slice(from.get(kind)), kind).toContain(rulesOf(kind, text));
  }
}

let unchanged = 0;
let found = 0;

async function play(seed: number): Promise<void> {
  const random = seededRandom(seed);
  const rules = new SimRules(random);
  const { network, nodes, scheduler } = rules;
  if (random.below(4) === 0) rules.silent.add(pick(random, ["Role", "RoleBinding", "ClusterRoleBinding"]));
  const isolates = [new Isolate(rules), new Isolate(rules)];
  await scheduler.run(isolates[0]?.ask() ?? Promise.resolve());
  const rate = random.below(3) * 0.03;
  network.faults = {
    ...NO_FAULTS,
    lost: rate,
    replyLost: rate,
    repeated: rate,
    slow: 2 * rate,
    slowMaxMs: 9_000,
    crash: rate,
    messageCrash: rate,
  };
  const wrong: unknown[] = [];
  // Calls that nobody answers never end.
  const begun = (work: Promise<unknown>): void =>
    void work.catch((error: unknown) => {
      if (error instanceof Error && error.name === "AssertionError") wrong.push(error);
    });
  for (let step = 0; step < STEPS; step++) {
    const kind = pick(random, RBAC_KINDS);
    if (random.below(2) === 0) begun(rules.write(kind, randomWrite(random, kind)));
    else begun(pick(random, isolates).ask());
    if (random.below(40) === 0) nodes[pick(random, RBAC_KINDS)].crash();
    if (random.below(12) === 0) nodes.ClusterRole.crash();
    await scheduler.pass(random.below(4) === 0 ? random.below(3_000) : random.below(12));
    if (wrong.length > 0) throw wrong[0];
  }
  network.faults = NO_FAULTS;
  await scheduler.pass(60_000);
  for (const isolate of isolates) await scheduler.run(isolate.ask());
  expect(wrong).toEqual([]);
  const had = RBAC_KINDS.map((kind) => rules.had[kind].at(-1));
  expect(RBAC_KINDS.map((kind) => rulesOf(kind, isolates[0]?.text ?? ""))).toEqual(had);
  expect(() => policyFrom(isolates[0]?.text ?? "")).not.toThrow();
  unchanged += isolates.reduce((sum, isolate) => sum + isolate.unchanged, 0);
  found += rules.found;
}

itOfSeeds(
  "roles and bindings change while the rules are fetched, seed %i: every answer is whole",
  { fixed: firstSeeds(10), further: 15 },
  play,
);

it("those histories: many questions met an unchanged policy", () => expect(unchanged).toBeGreaterThan(50));

it("those histories: many starts found a stored policy", () => expect(found).toBeGreaterThan(10));

async function begunRules(): Promise<{ rules: SimRules; isolate: Isolate; calls(work: () => Promise<unknown>): Promise<number> }> {
  const rules = new SimRules(seededRandom(1));
  const isolate = new Isolate(rules);
  const calls = async (work: () => Promise<unknown>): Promise<number> => {
    const before = rules.network.calls;
    await rules.scheduler.run(work());
    return rules.network.calls - before;
  };
  await rules.scheduler.run(isolate.ask());
  return { rules, isolate, calls };
}

const NAMED = '"name":"system:basic-user"},"roleRef"';
const REVOKED: WriteRequest = { verb: "delete", key: { namespace: "", name: "system:basic-user" }, options: DELETE };

it("a first question: the default objects are made once; what is taken away of them stays away until somebody has them made", async () => {
  const { rules, isolate, calls } = await begunRules();
  const names = RBAC_KINDS.flatMap((kind) => (JSON.parse(rulesOf(kind, isolate.text)) as unknown[]).length);
  expect(names.reduce((sum, count) => sum + count, 0)).toBe(defaultPolicy().length);
  expect(await calls(() => isolate.ask())).toBe(1);
  expect(isolate.unchanged).toBe(1);
  rules.nodes.ClusterRole.crash();
  expect(await calls(() => isolate.ask())).toBe(1);
  expect(isolate.unchanged).toBe(2);
  await calls(() => rules.write("ClusterRoleBinding", REVOKED));
  rules.nodes.ClusterRole.crash();
  await calls(() => isolate.ask());
  expect(isolate.text).not.toContain(NAMED);
  await calls(() => rules.ensureDefaults());
  await calls(() => isolate.ask());
  expect(isolate.text).toContain(NAMED);
});

it("a store that has told of a change: asked alone, then no more", async () => {
  const { rules, isolate, calls } = await begunRules();
  await calls(() => isolate.ask());
  // One call of the client, one of the store.
  expect(await calls(() => rules.write("ClusterRoleBinding", REVOKED))).toBe(2);
  expect(isolate.text).toContain(NAMED);
  expect(await calls(() => isolate.ask())).toBe(2);
  expect(isolate.text).not.toContain(NAMED);
  expect(await calls(() => isolate.ask())).toBe(1);
});

it("a store of something else: refuses questions about the rules", async () => {
  const { rules } = await begunRules();
  await expect(rules.nodes.Role.brain.policySince("")).rejects.toThrow("ClusterRoles");
});

it("a dry run tells nobody", async () => {
  const { rules, calls } = await begunRules();
  expect(await calls(() => rules.write("ClusterRoleBinding", { ...REVOKED, options: { ...DELETE, dryRun: true } }))).toBe(1);
});

it("the word of a store counts for a minute", async () => {
  const { rules, isolate, calls } = await begunRules();
  await calls(() => isolate.ask());
  await rules.scheduler.pass(TRUSTED_MS - 1_000);
  expect(await calls(() => isolate.ask())).toBe(1);
  await rules.scheduler.pass(1_000);
  expect(await calls(() => isolate.ask())).toBe(4);
});

it("a store that hangs: needed by nobody while it has told nothing; else the question fails, and is answered when the store is back", async () => {
  const { rules, isolate, calls } = await begunRules();
  await calls(() => isolate.ask());
  let hangs = true;
  rules.network.fate = (_step, target) => (hangs && target === "RoleBinding" ? "held" : undefined);
  expect(await calls(() => isolate.ask())).toBe(1);
  rules.nodes.ClusterRole.crash();
  expect(await calls(() => isolate.ask())).toBe(1);
  await calls(() => rules.write("ClusterRoleBinding", REVOKED));
  rules.nodes.ClusterRole.crash();
  await expect(rules.scheduler.run(isolate.ask())).rejects.toThrow(RULES_UNREAD);
  hangs = false;
  await rules.scheduler.run(isolate.ask());
  expect(isolate.text).not.toContain(NAMED);
});

/** Writes that change the rules: one that tells, and one of the store that compiles them. */
const CHANGES: readonly (readonly [RbacKind, WriteRequest])[] = [
  ["ClusterRoleBinding", REVOKED],
  ["ClusterRole", { ...REVOKED, key: { namespace: "", name: "view" } }],
];

describe.each(CHANGES)("the rules on disk, and a change of a %s", (kind, request) => {
  const host = (rules: SimRules) => rules.nodes.ClusterRole;

  it.each(["before", "after"])("that lives on when the object dies %s its commit: a start answers with what is committed", async (when) => {
    const { rules, isolate, calls } = await begunRules();
    await calls(() => isolate.ask());
    expect(rules.stored).toBeDefined();
    const before = rules.had[kind].length;
    const die = (): never => {
      rules.beforeCommit = () => undefined;
      rules.afterCommit = () => undefined;
      rules.nodes[kind].crash();
      throw new SimulatedCrash(kind);
    };
    if (when === "before") rules.beforeCommit = (committing) => void (committing === kind && die());
    else rules.afterCommit = (committing) => void (committing === kind && die());
    await expect(rules.scheduler.run(rules.write(kind, request))).rejects.toThrow();
    host(rules).crash();
    await calls(() => isolate.ask());
    expect(rulesOf(kind, isolate.text)).toBe(rules.had[kind].at(-1));
    expect(rules.had[kind].length - before).toBe(when === "before" ? 0 : 1);
  });

  it.each(["none", "ClusterRole", kind])("that is acknowledged, and the death of %s behind it: a start answers with it", async (dies) => {
    const { rules, isolate, calls } = await begunRules();
    await calls(() => isolate.ask());
    await calls(() => rules.write(kind, request));
    expect(rules.stored).toBeUndefined();
    for (const each of RBAC_KINDS) if (each === dies) rules.nodes[each].crash();
    host(rules).crash();
    await calls(() => isolate.ask());
    expect(rulesOf(kind, isolate.text)).toBe(rules.had[kind].at(-1));
    // What was read anew is on disk again.
    host(rules).crash();
    const { unchanged: before } = isolate;
    expect(await calls(() => isolate.ask())).toBe(1);
    expect(isolate.unchanged).toBe(before + 1);
  });

  it("that comes while the rules are fetched: nothing is kept on disk that lacks it", async () => {
    const { rules, isolate, calls } = await begunRules();
    const { network, scheduler } = rules;
    await scheduler.pass(TRUSTED_MS);
    network.fate = (_step, target) => (target === "RoleBinding" ? "answerHeld" : undefined);
    const asked = isolate.ask();
    await scheduler.pass(1_000);
    network.fate = () => undefined;
    await calls(() => rules.write(kind, request));
    for (const { deliver } of network.held) deliver();
    await scheduler.run(asked);
    host(rules).crash();
    await calls(() => isolate.ask());
    expect(rulesOf(kind, isolate.text)).toBe(rules.had[kind].at(-1));
  });
});

it("the word that a store tells, lost on its way back: the change is told once more, and the rules on disk are gone before it is made", async () => {
  const { rules, isolate, calls } = await begunRules();
  await calls(() => isolate.ask());
  let answers = 0;
  rules.network.fate = (_step, target) => (target === "ClusterRole" && answers++ === 0 ? "replyLost" : undefined);
  await calls(() => rules.write("ClusterRoleBinding", REVOKED));
  rules.nodes.ClusterRole.crash();
  rules.network.fate = () => undefined;
  await calls(() => isolate.ask());
  expect(isolate.text).not.toContain(NAMED);
});

it("the rules on disk: count for an hour, and for a minute of a life", async () => {
  const { rules, isolate, calls } = await begunRules();
  await calls(() => isolate.ask());
  rules.nodes.ClusterRole.crash();
  expect(await calls(() => isolate.ask())).toBe(1);
  await rules.scheduler.pass(TRUSTED_MS);
  expect(await calls(() => isolate.ask())).toBe(4);
  // Saved less than half an hour ago, they are not saved again.
  await rules.scheduler.pass(HOUR_MS - TRUSTED_MS - 1_000);
  rules.nodes.ClusterRole.crash();
  expect(await calls(() => isolate.ask())).toBe(1);
  await rules.scheduler.pass(1_000);
  rules.nodes.ClusterRole.crash();
  expect(await calls(() => isolate.ask())).toBe(4);
  rules.nodes.ClusterRole.crash();
  expect(await calls(() => isolate.ask())).toBe(1);
});

it("a store that comes back from a backup: what is on disk of the rules is gone before it goes on", async () => {
  const { rules, isolate, calls } = await begunRules();
  for (const kind of ["Role", "ClusterRole"] as const) {
    await calls(() => isolate.ask());
    rules.nodes.ClusterRole.crash();
    await calls(() => isolate.ask());
    await rules.scheduler.pass(TRUSTED_MS);
    await calls(() => isolate.ask());
    expect(rules.stored).toBeDefined();
    await calls(() => rules.beginAbove(kind));
    expect(rules.stored).toBeUndefined();
  }
});

it("a change that cannot be told: refused with 503, and not made", async () => {
  const { rules, isolate, calls } = await begunRules();
  rules.network.fate = (_step, target) => (target === "ClusterRole" ? "lost" : undefined);
  const refused = await rules.scheduler.run(rules.write("ClusterRoleBinding", REVOKED));
  expect(refused).toMatchObject({ ok: false, status: { code: 503 } });
  rules.network.fate = () => undefined;
  await calls(() => isolate.ask());
  expect(isolate.text).toContain(NAMED);
});

it("a store that dies between telling and its commit: asked once more, and nothing has changed", async () => {
  const { rules, isolate, calls } = await begunRules();
  await calls(() => isolate.ask());
  let dies = true;
  rules.beforeCommit = (kind) => {
    if (!dies || kind !== "ClusterRoleBinding") return;
    dies = false;
    rules.nodes.ClusterRoleBinding.crash();
    throw new SimulatedCrash("ClusterRoleBinding");
  };
  await expect(rules.scheduler.run(rules.write("ClusterRoleBinding", REVOKED))).rejects.toThrow();
  expect(await calls(() => isolate.ask())).toBe(2);
  expect(await calls(() => isolate.ask())).toBe(1);
  expect(isolate.text).toContain(NAMED);
});

it("a store that changes while it is asked: a question that comes meanwhile is answered with the change", async () => {
  const { rules, isolate, calls } = await begunRules();
  const { network, scheduler } = rules;
  await scheduler.pass(TRUSTED_MS);
  network.fate = (_step, target) => (target === "ClusterRoleBinding" ? "answerHeld" : undefined);
  const first = isolate.ask();
  await scheduler.pass(1_000);
  network.fate = () => undefined;
  await calls(() => rules.write("ClusterRoleBinding", REVOKED));
  const second = isolate.ask();
  await scheduler.pass(1_000);
  expect(isolate.text).toContain(NAMED);
  for (const { deliver } of network.held) deliver();
  await scheduler.run(Promise.all([first, second]));
  expect(isolate.text).not.toContain(NAMED);
});
