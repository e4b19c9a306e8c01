/** One structured line per remarkable event, as the platform's log search reads it. */
export function log(level: "info" | "warn" | "error", event: string, fields: Record<string, string | number | boolean> = {}): void {
  const line = JSON.stringify({ time: new Date().toISOString(), level, event, object: "Worker", ...fields });
  if (level === "error") console.error(line);
  else if (level === "warn") console.warn(line);
  else console.log(line);
}
