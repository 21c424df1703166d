/** What other modules use of the diagnosis: the service and its findings. */
@NullMarked
package dev.kagzi.engine.diagnosis;

import org.jspecify.annotations.NullMarked;
