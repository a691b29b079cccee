/** Colours of the theme, by name, as a canvas wants them: those that hold where an element stands, in light or in dark. */
export function colours<Name extends string>(place: Element, names: readonly Name[]): Record<Name, string> {
  const read = names.map((name) => {
    // A custom property is read as it was written, `light-dark(…)` and all; a real one is read as the colour that it comes to. Each
    // has an element of its own: on one for all, a colour would be on its way from the one before.
    const probe = place.appendChild(document.createElement('i'));
    probe.style.color = `var(--${name})`;
    const { color } = getComputedStyle(probe);
    probe.remove();
    return [name, color];
  });
  return Object.fromEntries(read) as Record<Name, string>;
}
