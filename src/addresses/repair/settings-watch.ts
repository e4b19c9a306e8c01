/**
 * Says when a cluster is run under another configuration than before, or by Workers whose configurations differ: addresses are given out by the
 * objects, so theirs holds, but an operator has to know. After a change everything is looked at.
 */
import type { Recorder } from "../../core/base/ports";
import { differencesOf, type SettingDifference, type Settings } from "../../core/config/settings";
import type { EventReport, EventSubject } from "../../api/events/event-recorder";

/** A setting in which a Worker differed. */
export interface SeenDifference {
  name: string;
  /** the Worker's value */
  value: string;
  /** when it was seen the last time, in milliseconds since the epoch */
  seenAt: number;
}

/** Rows of the controller's object. Every method is synchronous and atomic. */
export interface SettingsStorage {
  /** under which settings the cluster was opened the last time; none = never */
  openedLoad(): Settings;
  openedSave(settings: Settings): void;
  differencePut(seen: SeenDifference): void;
  differencesLoad(): SeenDifference[];
  /** those that were put since the last time */
  differencesTake(): SeenDifference[];
  differencesTrim(seenBefore: number): void;
}

export interface SettingsPorts {
  recorder: Recorder;
  storage: SettingsStorage;
  events: { report(event: EventReport): void };
  /** what the events are about; undefined = it is not there yet */
  subject(): Promise<EventSubject | undefined>;
  /** asks for a full sweep */
  sweep(): void;
}

/** A Worker that is still there has said so again by then: cron tells each minute. */
const DIFFERENCE_LIFETIME_MS = 5 * 60_000;

/** Takes note of what a Worker runs under, which is told with the next pass. */
export function noteSettings(storage: SettingsStorage, own: Settings, theirs: Settings, nowMs: number): void {
  const differences = differencesOf(own, theirs);
  if (differences.length > 0) storage.differencesTrim(nowMs - DIFFERENCE_LIFETIME_MS);
  for (const { name, there } of differences) storage.differencePut({ name, value: there, seenAt: nowMs });
}

export class SettingsWatch {
  #isCompared = false;

  constructor(
    private readonly own: Settings,
    private readonly ports: SettingsPorts,
  ) {}

  /** With each pass: tells what was noted, and once in the object's life whether the cluster was opened under other settings before. */
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

  /** What has changed since the cluster was opened the last time. At a crash in between the sweep has been asked for. */
  #compareOpened(): SettingDifference[] {
    const { storage, sweep } = this.ports;
    const before = storage.openedLoad();
    const isNew = Object.keys(before).length === 0;
    const differences = differencesOf(this.own, before);
    if (differences.length === 0) return [];
    if (!isNew) sweep();
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
