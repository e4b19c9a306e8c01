/** Where two answers differ, member by member. */
import type { Answer } from "./play";

export interface Difference {
  /** `code`, `headers.warning`, `body.status.message`, `body.items.0.spec` */
  at: string;
  upstream: unknown;
  ours: unknown;
}

/** `undefined` stands for a member that is not there. */
export function differences(upstream: Answer, ours: Answer): Difference[] {
  return [...between("", upstream, ours)];
}

function* between(at: string, upstream: unknown, ours: unknown): Generator<Difference> {
  if (upstream === ours || (isEmpty(upstream) && isEmpty(ours))) return;
  if (!isContainer(upstream) || !isContainer(ours) || Array.isArray(upstream) !== Array.isArray(ours)) {
    yield { at, upstream, ours };
    return;
  }
  for (const key of new Set([...Object.keys(upstream), ...Object.keys(ours)])) {
    yield* between(at === "" ? key : `${at}.${key}`, upstream[key], ours[key]);
  }
}

/** What Go prints of structs and pointers that nobody has set, and of lists: docs/compatibility.md, "members with an empty value". */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  if (typeof value !== "object") return false;
  return Object.values(value).every((member) => member === 0 || isEmpty(member));
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
