/**
 * Reports a cluster that runs under another configuration than before, or Workers whose configurations differ. The objects give out addresses, so
 * their configuration counts, but an operator has to know. After a change everything is looked at.
 */
import type { Recorder } from "../../core/base/ports";
import { differencesOf, type SettingDifference, type Settings } from "../../core/config/settings";
import type { EventReport, EventSubject } from "../../api/events/event-recorder";

/** A setting in which a Worker differed. */
export interface SeenDifference {
  name: string;
  /** the Worker's value */
  value: string;
  /** when it was last seen, in milliseconds since the epoch */
  seenAt: number;
}

/** Rows of the controller's object. Every method is synchronous and atomic. */
export interface SettingsStorage {
  /** the settings under which the cluster was last opened; empty = never */
  openedLoad(): Settings;
  openedSave(settings: Settings): void;
  differencePut(seen: SeenDifference): void;
  /** by name */
  differencesLoad(): SeenDifference[];
  /** the differences that were put since the last call, by name */
  differencesTake(): SeenDifference[];
  differencesTrim(seenBefore: number): void;
}

export interface SettingsPorts {
  recorder: Recorder;
  storage: SettingsStorage;
  events: { report(event: EventReport): void };
  /** the object that the events are about; undefined = it does not exist yet */
  subject(): Promise<EventSubject | undefined>;
  /** asks for a full sweep, and every other controller for a pass */
  lookAtEverything(): void;
}

/** By then a Worker that still runs has been seen again: cron pokes each minute. */
const DIFFERENCE_LIFETIME_MS = 5 * 60_000;

/** Notes the settings of a Worker; the next pass reports differences. Answers whether there are any. */
export function noteSettings(storage: SettingsStorage, own: Settings, theirs: Settings, nowMs: number): boolean {
  const differences = differencesOf(own, theirs);
  if (differences.length > 0) storage.differencesTrim(nowMs - DIFFERENCE_LIFETIME_MS);
  for (const { name, there } of differences) storage.differencePut({ name, value: there, seenAt: nowMs });
  return differences.length > 0;
}

/** Whether the cluster was last opened under other settings: the next pass tells. */
export function hasChanged(storage: SettingsStorage, own: Settings): boolean {
  return differencesOf(own, storage.openedLoad()).length > 0;
}

export class SettingsWatch {
  #isCompared = false;

  constructor(
    private readonly own: Settings,
    private readonly ports: SettingsPorts,
  ) {}

  /** With each pass: reports the noted differences, and once in the object's life a change of the settings since the cluster was last opened. */
  async run(): Promise<void> {
    const { recorder, storage } = this.ports;
    const changed = this.#isCompared ? [] : this.#compareOpened();
    this.#isCompared = true;
    const differing = storage.differencesTake().map(({ name, value }) => ({ name, here: this.own[name] ?? "", there: value }));
    if (changed.length === 0 && differing.length === 0) return;
    for (const { name, here, there } of changed) {
      recorder.log("warn", "the configuration has changed", { setting: name, before: there, now: here });
    }
    for (const { name, here, there } of differing) {
      recorder.log("warn", "configurations differ", { setting: name, cluster: here, worker: there });
    }
    const regarding = await this.ports.subject();
    if (!regarding) return;
    for (const difference of changed) this.#tell(regarding, "Normal", "ConfigurationChanged", changedNote(difference));
    for (const difference of differing) this.#tell(regarding, "Warning", "ConfigurationDiffers", differsNote(difference));
  }

  /** The settings that changed since the cluster was last opened. The sweep is asked for first, so that a crash does not lose it. */
  #compareOpened(): SettingDifference[] {
    const { storage, lookAtEverything } = this.ports;
    const before = storage.openedLoad();
    const isNew = Object.keys(before).length === 0;
    const differences = differencesOf(this.own, before);
    if (differences.length === 0) return [];
    if (!isNew) lookAtEverything();
    storage.openedSave(this.own);
    return isNew ? [] : differences;
  }

  #tell(regarding: EventSubject, type: EventReport["type"], reason: string, note: string): void {
    this.ports.events.report({ regarding, type, reason, action: "ConfigurationCheck", note });
  }
}

/** The names of the settings in which a Worker differed lately. */
export function differingSettings(storage: Pick<SettingsStorage, "differencesLoad">, nowMs: number): string[] {
  const lately = storage.differencesLoad().filter(({ seenAt }) => seenAt > nowMs - DIFFERENCE_LIFETIME_MS);
  return lately.map(({ name }) => name).sort();
}

function changedNote({ name, here, there }: SettingDifference): string {
  return `${name} was ${there || "not known"} and is ${here || "not known"}; all Services are looked at`;
}

function differsNote({ name, here, there }: SettingDifference): string {
  return `A Worker runs with ${name} ${there || "not known"}, the cluster with ${here || "not known"}: addresses are given out by the cluster's`;
}
