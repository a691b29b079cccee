/** Every text of the page, in one catalogue. A translation is another object of this shape. */
import { settings } from './en/settings';
import { app, shared } from './en/shared';

export const text = { app, settings, shared };
