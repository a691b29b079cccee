/** Every text of the page, in one catalogue. A translation is another object of this shape. */
import { plugins } from './en/plugins';
import { models } from './en/models';
import { activity } from './en/activity';
import { chat } from './en/chat';
import { happened } from './en/happened';
import { memory } from './en/memory';
import { settings } from './en/settings';
import { app, shared } from './en/shared';
import { welcome } from './en/welcome';

export const text = { activity, app, chat, happened, memory, models, plugins, settings, shared, welcome };
