import { describe, expect, it } from "vitest";
import { COMPRESSIBLE_HEADER } from "../../../../../src/api/store/list/collection-header";
import { ListSizes } from "../../../../../src/worker/http/answer/list-sizes";

const SERVICES = { cluster: "default", group: "", resource: "services", namespace: "" };
const answer = (chars: number, status = 200): Response =>
  new Response("", { status, headers: chars === 0 ? {} : { [COMPRESSIBLE_HEADER]: String(chars) } });
const query = (text = ""): URLSearchParams => new URLSearchParams(text);

describe("the seats of a list", () => {
  it.each([
    { what: "never seen", seats: 1 },
    { what: "a small one", chars: 0, seats: 1 },
    { what: "2.5 million characters", chars: 2_500_000, seats: 25 },
    { what: "more than a tenth of all seats", chars: 100_000_000, seats: 200 },
    { what: "any number of seats", chars: 2_500_000, max: 0, seats: 1 },
    { what: "few seats", chars: 2_500_000, max: 5, seats: 1 },
    { what: "a page", chars: 2_500_000, asked: "limit=500", seats: 1 },
    { what: "the next page", chars: 2_500_000, asked: "continue=x", seats: 1 },
    { what: "limit=", chars: 2_500_000, asked: "limit=", seats: 25 },
    { what: "a selected part", chars: 2_500_000, asked: "labelSelector=a%3Db", seats: 25 },
    { what: "what was seen was a page", chars: 2_500_000, seen: "limit=500", seats: 1 },
    { what: "what was seen was a selected part", chars: 2_500_000, seen: "fieldSelector=a%3Db", seats: 1 },
    { what: "what was seen was a refusal", chars: 2_500_000, status: 410, seats: 1 },
  ])("$what: $seats", ({ chars, max = 2_000, asked, seen, status, seats }) => {
    const sizes = new ListSizes();
    if (chars !== undefined) sizes.note(SERVICES, query(seen), answer(chars, status));
    expect(sizes.seatsOf(SERVICES, query(asked), max)).toBe(seats);
    for (const other of [{ cluster: "blue" }, { resource: "pods" }, { namespace: "ns" }, { group: "apps" }])
      expect(sizes.seatsOf({ ...SERVICES, ...other }, query(), max)).toBe(1);
  });

  it("a collection that has become small: 1", () => {
    const sizes = new ListSizes();
    for (const chars of [2_500_000, 0]) sizes.note(SERVICES, query(), answer(chars));
    expect(sizes.seatsOf(SERVICES, query(), 2_000)).toBe(1);
  });
});
