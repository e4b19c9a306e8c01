/** Fields of a configuration by their kind. Each function throws an error that names the field. */

export type Table = Readonly<Record<string, unknown>>;

export function isTable(value: unknown): value is Table {
  // A date of TOML is an object, too.
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

export function textIn(table: Table, field: string): string | undefined {
  const value = table[field];
  if (value === undefined || typeof value === "string") return value;
  throw new Error(`"${field}" must be a text`);
}

export function neededText(table: Table, field: string, where: string): string {
  const value = table[field];
  if (typeof value === "string" && value !== "") return value;
  throw new Error(`"${where}" needs a "${field}"`);
}

export function tableIn(table: Table, field: string): Table {
  const value = table[field] ?? {};
  if (isTable(value)) return value;
  throw new Error(`"${field}" must be a table`);
}

export function tablesIn(table: Table, field: string, where = field): Table[] {
  const value = table[field] ?? [];
  if (Array.isArray(value) && value.every(isTable)) return value;
  throw new Error(`"${where}" must be a list of tables`);
}

export function textsIn(table: Table, field: string, where = field): string[] {
  const value = table[field] ?? [];
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value;
  throw new Error(`"${where}" must be a list of texts`);
}
