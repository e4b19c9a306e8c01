/** One figure of the benchmark table. */
export interface BenchRow {
  name: string;
  value: number;
  unit: string;
  /** what the figure should be, in words */
  target?: string;
  /** whether it is */
  ok?: boolean;
  note?: string;
}
