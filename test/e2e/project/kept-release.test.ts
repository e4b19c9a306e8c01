/** The last release that the tests run the sources against, and the command that keeps it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { keepRelease } from "../../../scripts/dev/release/keep";
import { KEPT_BYTES_MAX, KEPT_RELEASE } from "../../../scripts/dev/release/kept";
import { root } from "../../../scripts/running/root.mjs";
import { durableObjectsOf } from "../../../scripts/serve/configuration/objects";
import { readTable } from "../../../scripts/serve/configuration/read-file";
import { keptRelease } from "../../support/server/kept-release";

describe("the kept release", () => {
  it("is one module of a commit, with the classes of objects, and not longer than it may be", () => {
    const { commit, text } = keptRelease();
    expect(commit).toMatch(/^[0-9a-f]{40}$/u);
    expect(readFileSync(join(root, KEPT_RELEASE.folder, KEPT_RELEASE.bundle)).length).toBeLessThanOrEqual(KEPT_BYTES_MAX);
    const exported = (/export\s*\{([^}]*)\}/u.exec(text)?.[1] ?? "").split(",").map((name) => name.split(" as ").at(-1)?.trim());
    const objects = Object.values(durableObjectsOf(readTable(join(root, "wrangler.toml")), "servicenet"));
    // A class that comes with a later release is not in it.
    expect(objects.filter(({ className }) => exported.includes(className)).length).toBeGreaterThanOrEqual(11);
    expect(exported).toContain("default");
  });

  it("a commit that is not here: one line that says so, and what is kept stays", () => {
    const before = keptRelease().commit;
    const unknown = "0123456789012345678901234567890123456789";
    expect(() => keepRelease(root, unknown)).toThrow(`git rev-parse --verify --quiet ${unknown}^{commit}: `);
    expect(keptRelease().commit).toBe(before);
  });
});
