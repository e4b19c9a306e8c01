import { reset } from "cloudflare:test";
import { afterEach, expect } from "vitest";

/** Durable Objects and KV start empty in every test that uses them; pure tests do not pay the 8 ms. */
afterEach(async () => {
  if (expect.getState().testPath?.includes("/test/object/")) await reset();
});
