import { it } from "vitest";
import { lifeOfRanges } from "../../support/fleet/life-of-ranges";

const MS_MAX = 400_000;

it(
  "clusters with pools, wherever the object of their controller dies: no two have one range, and each is given back behind the end",
  async () => {
    const { points } = (await lifeOfRanges()).world;
    for (let at = 0; at <= points; at++) await lifeOfRanges(at);
  },
  MS_MAX,
);
