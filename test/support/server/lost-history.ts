/** A history that does not reach back: as after a flood of writes, or after many for more than a minute. */
import { damageData } from "./damage";

/** Watches and lists of Services from before are 410 when the server, which is not running, starts again on its data. */
export function loseHistory(dataFolder: string): Promise<void> {
  const sql = "UPDATE store_state SET history_floor = (SELECT max(revision) FROM history)";
  return damageData(dataFolder, [{ class: "ServicesStore", name: "default/services", sql }]);
}
