/**
 * What every page of the dashboard is made of: the request that it answers, the reply, the frame
 * around it, and what templates call to show times, numbers, links and JSON.
 *
 * <p>Knows the engine and the template library, but no HTTP library: the package {@code web}
 * translates. Pages live in packages of their own and use this one only.
 */
@NullMarked
package dev.kagzi.server.web.page;

import org.jspecify.annotations.NullMarked;
