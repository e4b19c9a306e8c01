import { expect, it } from "vitest";
import { endWatches } from "../../../../src/worker/routing/watched-stores";
import { send } from "../client";
import { type FakeEnv, fakeEnv } from "../fake-env";

const WATCH = "http://h/api/v1/services?watch=true";

/** What the store of services was asked, in order. */
function asked({ calls }: FakeEnv): string[] {
  return calls
    .filter(({ object, method }) => object === "SERVICES_STORE default/services" && method !== "ensureBootstrapped")
    .map(({ method }) => method);
}

// A stop is for good, so all of it is one test.
it("a stop: ends open watches, a watch that is being opened, and later ones", async () => {
  const fake: FakeEnv = fakeEnv({
    fetch: async () => {
      // The stop comes between the request and its answer.
      if (asked(fake).length === 2) await endWatches(fake.env);
      return new Response("the store's stream");
    },
  });
  expect(await (await send(WATCH, {}, fake.env)).text()).toBe("the store's stream");
  expect(asked(fake)).toEqual(["fetch"]);
  expect(await (await send(WATCH, {}, fake.env)).text()).toBe("the store's stream");
  expect(asked(fake)).toEqual(["fetch", "fetch", "endWatches", "endWatches"]);
  const late = await send(WATCH, {}, fake.env);
  expect([late.status, await late.text()]).toEqual([200, ""]);
  expect(asked(fake)).toHaveLength(4);
});
