import type { AppPlace } from './shared-app.ts';
import type { TenantApp } from './tenant-app.ts';

/** The runtime in front of each app, for as long as the app is there. */
export const runtimes = new WeakMap<TenantApp, object>();

/** The app behind each runtime. */
export const places = new WeakMap<object, AppPlace>();

/** Tells the constructor of `Runtime` that the app is there already. */
export class ExistingApp {
  readonly place: AppPlace;

  constructor(place: AppPlace) {
    this.place = place;
  }
}
