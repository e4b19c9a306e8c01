import { expect, it } from "vitest";
import { lifeAtRoot } from "../../support/pools/life-at-root";

it.each(["store", "root"] as const)("addresses of the root, wherever the %s dies: given once, and all given back", async (who) => {
  const { points } = await lifeAtRoot({ at: 0, who });
  for (let at = 1; at <= points; at++) expect((await lifeAtRoot({ at, who })).deaths, `death ${at}`).toBe(1);
});

it("addresses of the root, wherever the controller of the cluster dies: given once, and all given back", async () => {
  const { points } = (await lifeAtRoot({ at: 0, who: "store" })).cluster.world;
  for (let at = 1; at <= points; at++) await lifeAtRoot({ at: 0, who: "store" }, at);
});
