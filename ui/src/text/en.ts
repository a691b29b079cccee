/** Every text of the page, in one catalogue. A translation is another object of this shape. */
import { plugins } from './en/plugins';
import { models } from './en/models';
import { settings } from './en/settings';
import { app, shared } from './en/shared';
import { welcome } from './en/welcome';

export const text = { app, models, plugins, settings, shared, welcome };
