/** What a controller in an object that dies has of its platform: an alarm that may fail to be set, a switch that is on, and its own death. */
import type { ControllerPorts } from "../../../src/controllers/frame/controller";
import type { Life, SimNetwork, SimNode } from "./platform/network";

type LifePorts = Pick<ControllerPorts, "wakeAt" | "cancelAlarm" | "isOn" | "background"> & { restart(): void };

/** `node` is asked when an alarm is set, since a brain is made before its node is known. */
export function controllerLife<Brain>(network: SimNetwork, life: Life, node: () => SimNode<Brain>): LifePorts {
  return {
    wakeAt(atMs) {
      if (network.chance(network.faults.alarmFails)) return Promise.reject(new Error("the alarm cannot be set"));
      if (life.isAlive()) node().setAlarm(atMs);
      return Promise.resolve();
    },
    cancelAlarm: () => Promise.resolve(),
    isOn: () => true,
    background: (work) => void work,
    restart: () => life.die?.(),
  };
}
