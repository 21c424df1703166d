package dev.kagzi.spring;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.analyzer.AbstractInjectionFailureAnalyzer;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;

/**
 * Explains why there is no {@link KagziOutbox} or {@link SpringTransactions}. It precedes the
 * analyzer of Spring Boot, which would suggest to define a bean.
 */
final class MissingBeanFailureAnalyzer
    extends AbstractInjectionFailureAnalyzer<NoSuchBeanDefinitionException> implements Ordered {
  private final Environment environment;

  /** Called by Spring. */
  MissingBeanFailureAnalyzer(Environment environment) {
    this.environment = environment;
  }

  @Override
  public int getOrder() {
    return HIGHEST_PRECEDENCE;
  }

  @Override
  protected @Nullable FailureAnalysis analyze(
      Throwable rootFailure, NoSuchBeanDefinitionException cause, @Nullable String description) {
    Class<?> type = cause.getBeanType();
    if (type == null || cause.getNumberOfBeansFound() > 0) {
      return null;
    }
    // By name: the classes need spring-jdbc, which the application may lack.
    return switch (type.getName()) {
      case "dev.kagzi.spring.KagziOutbox" ->
          analysis(
              description,
              type,
              environment.getProperty("kagzi.outbox.enabled", Boolean.class, false)
                  ? "Kagzi creates it if the application has one DataSource, or a primary one. Add"
                      + " spring-boot-starter-jdbc and set spring.datasource.url, or define the"
                      + " bean: new KagziOutbox(dataSource)."
                  : "Set kagzi.outbox.enabled=true.",
              cause);
      case "dev.kagzi.spring.SpringTransactions" ->
          analysis(
              description,
              type,
              "Kagzi creates it if the application has one DataSource and one transaction manager,"
                  + " or primary ones. Add spring-boot-starter-jdbc and set spring.datasource.url,"
                  + " or define the bean: new SpringTransactions(template, dataSource).",
              cause);
      default -> null;
    };
  }

  private static FailureAnalysis analysis(
      @Nullable String description, Class<?> type, String action, Throwable cause) {
    return new FailureAnalysis(
        "%s required a bean of type '%s', which does not exist."
            .formatted(description == null ? "A component" : description, type.getName()),
        action,
        cause);
  }
}
