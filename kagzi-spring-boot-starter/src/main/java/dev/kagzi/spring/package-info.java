/**
 * Kagzi in Spring Boot. The auto-configuration connects a {@link dev.kagzi.sdk.Kagzi} bean, starts
 * a worker for each queue of the {@link dev.kagzi.spring.WorkflowDefinition} beans when the
 * application is ready, and drains them before it shuts down.
 *
 * <p>The same sources are compiled for Spring Boot 4 and 3.5, except for the health indicator,
 * whose Spring classes are in different packages. The SDK does not depend on Spring.
 */
@NullMarked
package dev.kagzi.spring;

import org.jspecify.annotations.NullMarked;
