import { describe, it } from "vitest";
import { storeStorageCases } from "../../../../contract/store-storage.suite";
import { MemoryStoreStorage } from "../../../../support/memory/store-storage";

describe("the store's rows in memory", () => {
  it.each(storeStorageCases)("$name", ({ run }) => {
    run(new MemoryStoreStorage());
  });
});
