package dev.kagzi.spring;

import dev.kagzi.sdk.Kagzi;
import javax.sql.DataSource;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/** Transactional steps and the outbox, if the application has one data source or a primary one. */
@AutoConfiguration(
    after = KagziAutoConfiguration.class,
    afterName = {
      // Spring Boot 4
      "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
      "org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration",
      "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration",
      // Spring Boot 3
      "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
      "org.springframework.boot.autoconfigure.jdbc.DataSourceTransactionManagerAutoConfiguration",
      "org.springframework.boot.autoconfigure.orm.jpa.HibernateJpaAutoConfiguration"
    })
@ConditionalOnClass(DataSourceUtils.class)
@ConditionalOnSingleCandidate(DataSource.class)
public class KagziTransactionsAutoConfiguration {
  /** Called by Spring. */
  public KagziTransactionsAutoConfiguration() {}

  @Bean
  @ConditionalOnMissingBean
  @ConditionalOnSingleCandidate(PlatformTransactionManager.class)
  SpringTransactions kagziTransactions(PlatformTransactionManager manager, DataSource dataSource) {
    TransactionTemplate template = new TransactionTemplate(manager);
    template.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
    return new SpringTransactions(template, dataSource);
  }

  @Bean
  @ConditionalOnBean(name = "kagziTransactions")
  StepTableCheck kagziStepTableCheck(ConfigurableListableBeanFactory beans, DataSource dataSource) {
    return new StepTableCheck(beans, "kagziTransactions", dataSource);
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnProperty("kagzi.outbox.enabled")
  static class Outbox {
    @Bean
    @ConditionalOnMissingBean
    KagziOutbox kagziOutbox(DataSource dataSource) {
      return new KagziOutbox(dataSource);
    }

    @Bean
    KagziRelay kagziRelay(Kagzi kagzi, DataSource dataSource, KagziProperties properties) {
      return new KagziRelay(kagzi, dataSource, properties.outbox().interval());
    }
  }
}
