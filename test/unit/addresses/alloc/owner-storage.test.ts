import { describe, it } from "vitest";
import { ownerStorageCases } from "../../../contract/owner-storage.suite";
import { MemoryOwnerStorage } from "../../../support/memory/owner-storage";

describe("OwnerStorage in memory", () => {
  it.each(ownerStorageCases)("$name", ({ run }) => run(new MemoryOwnerStorage()));
});
