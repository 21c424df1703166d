/**
 * How much memory a server gives to what calls bring and take. Payloads are the only large things
 * in a server, and their number follows from how many callers there are: without a bound in bytes
 * enough callers would use up any heap.
 *
 * <p>Promise: all limits follow the size of the heap. What does not fit is refused or left for
 * later, never queued without bound.
 *
 * <p>Knows no other package.
 */
@NullMarked
package dev.kagzi.engine.memory;

import org.jspecify.annotations.NullMarked;
