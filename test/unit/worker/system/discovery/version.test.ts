import { describe, expect, it } from "vitest";
import { json } from "../../client";

describe("version", () => {
  it("GET /version: upstream's version with a suffix of this server", async () => {
    expect(await json("/version")).toMatchObject({
      major: "1",
      minor: "36",
      gitVersion: expect.stringMatching(/^v1\.36\.2-servicenet\.\d+$/),
    });
  });
});
