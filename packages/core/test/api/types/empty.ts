import * as adjutant from 'adjutant';
import { z } from 'zod';

export const imported = { adjutant, z };
