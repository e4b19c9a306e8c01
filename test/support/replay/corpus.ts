/** All that is asked of both servers, and the part of it that is recorded. */
import { metadataGroups } from "./metadata";
import { mutationGroups } from "./mutations";
import { pathGroups } from "./paths";
import { serviceGroups } from "./services";
import type { Case, Group } from "./step";
import { verbGroups } from "./verbs";

/** New ranges come last: Services could have addresses of them. */
const isOfRanges = ({ name }: Group): boolean => name.includes("servicecidrs");

function inOrder(groups: readonly Group[]): Group[] {
  return [...groups.filter((group) => !isOfRanges(group)), ...groups.filter(isOfRanges)];
}

/** Ten thousand requests: `npm run record -- --compare` asks them all. */
export const wholeCorpus: readonly Group[] = inOrder([
  ...pathGroups,
  ...serviceGroups,
  ...verbGroups,
  ...mutationGroups,
  ...metadataGroups,
]);

/** Every verb is tried on these; on the others one case in turn, beside a whole life. */
const ALL_VERBS = ["verbs-services", "verbs-pods", "verbs-endpointslices"];
/** Of ServiceCIDRs those that wait for no controller: upstream none runs, here it is a part of the store. */
const OF_RANGES = ["updates", "patches", "apply"];
const VERBS_IN_TURN = ["updates", "patches", "apply", "deletes", "lists", "subresources and methods"];
const METADATA_EVERY = 8;
const MEMBERS_EVERY = 6;

/** The recorded part: each rule is tried on some kind, and each kind by many rules. */
export const corpus: readonly Group[] = inOrder([
  ...pathGroups,
  ...serviceGroups,
  ...verbGroups.map((group, index) => ({ ...group, cases: group.cases.filter(verbInTurn(group, index)) })),
  ...mutationGroups.map((group, index) =>
    group.name.endsWith("-services") ? group : { ...group, cases: someOf(group.cases, MEMBERS_EVERY, index) },
  ),
  ...metadataGroups.map((group, index) => ({ ...group, cases: someOf(group.cases, METADATA_EVERY, index) })),
]);

function verbInTurn(group: Group, index: number): (one: Case) => boolean {
  if (ALL_VERBS.includes(group.name)) return () => true;
  if (isOfRanges(group)) return ({ name }) => OF_RANGES.includes(name);
  return ({ name }) => name === "create, read, change, delete" || name === VERBS_IN_TURN[index % VERBS_IN_TURN.length];
}

/** The first case stays: others may need what it makes. */
function someOf(cases: readonly Case[], every: number, first: number): Case[] {
  return cases.filter((_case, index) => index === 0 || index % every === first % every);
}
