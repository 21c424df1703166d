/**
 * Kagzi in Spring Boot. The auto-configuration connects a {@link dev.kagzi.sdk.Kagzi} bean, starts
 * a worker for each queue of the {@link dev.kagzi.spring.WorkflowDefinition} beans when the
 * application is ready, and drains them before it shuts down.
 *
 * <p>The same sources are compiled for Spring Boot 4 and 3.5, except for health, which has other
 * packages there. The SDK does not know Spring.
 */
@NullMarked
package dev.kagzi.spring;

import org.jspecify.annotations.NullMarked;
