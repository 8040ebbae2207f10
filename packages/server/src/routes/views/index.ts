import type { AddRoutes } from '../../http/parts.ts';
import { addDecisionRoutes } from './decisions.ts';
import { addExplanationRoutes } from './explanation.ts';
import { addMomentRoutes } from './moment.ts';
import { addOutlineRoutes } from './outline.ts';
import { addPlanRoutes } from './plans.ts';
import { addTreeRoutes } from './tree.ts';

/**
 * Adds the routes that show one session: its outline, and its panels at any of its events. Nothing
 * is claimed: the process that works on a session is not disturbed.
 */
export const addViewRoutes: AddRoutes = (api, parts) => {
  for (const add of [
    addOutlineRoutes,
    addMomentRoutes,
    addTreeRoutes,
    addPlanRoutes,
    addDecisionRoutes,
    addExplanationRoutes,
  ])
    add(api, parts);
};
