import { KeptRows } from "../../../src/controllers/followed/kept-rows";
import { MemoryRowStorage } from "./row-storage";

/** Rows in memory that count the facts which are read. */
export class CountingRows extends KeptRows {
  read = 0;

  constructor() {
    super(new MemoryRowStorage());
  }

  override get<T extends object>(kind: string, key: string): T | undefined {
    this.read++;
    return super.get<T>(kind, key);
  }

  /** How many facts the work reads, behind its result. */
  readBy<T>(work: () => T): [T, number] {
    this.read = 0;
    return [work(), this.read];
  }
}
