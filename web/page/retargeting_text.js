// A retargeting onto the built-in human in words.

import { formatCount } from "./format.js";

/// What a file's report says: pairs, sizes, axes, and the bones that were turned.
export function describeRetargeting({ joints, scale, units, source_up: up, facing, aligned, source_without_partner: alone }) {
  const all = joints.length + alone.length;
  const parts = [`${formatCount(joints.length)} of ${formatCount(all)} joints move a joint of the human`];
  if (scale > 0) parts.push(`lengths times ${formatFactor(scale)}${units ? ` (${units})` : ""}`);
  parts.push(`${up} is up`);
  if (facing) parts.push(`rotated by ${Math.round(facing)}° to face as the human does`);
  const most = Math.max(0, ...aligned.map(({ degrees }) => degrees));
  if (most >= 0.5) parts.push(`${formatCount(aligned.length)} bones of the rest pose aligned, by up to ${Math.round(most)}°`);
  return `${parts.join("; ")}.`;
}

/// What a reader should know before a use of the motion.
export function retargetingWarnings({ warnings }) {
  return warnings.map((text) => `On the human: ${withoutHint(text)}`);
}

/// A sentence of the library without its hint at the end, such as "; a map file can name the pairs": the page has neither
/// maps nor options.
export function withoutHint(text) {
  return text.replace(/(; (a map|choose another|the option)|, and the option) .*$/, "");
}

function formatFactor(factor) {
  return String(Number(factor.toPrecision(3)));
}
