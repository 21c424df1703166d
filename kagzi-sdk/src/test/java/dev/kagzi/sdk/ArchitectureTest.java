package dev.kagzi.sdk;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noCodeUnits;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;

@AnalyzeClasses(packages = "dev.kagzi.sdk", importOptions = DoNotIncludeTests.class)
class ArchitectureTest {
  private static final DescribedPredicate<JavaClass> HIDDEN =
      DescribedPredicate.describe(
          "internal or protocol types",
          type ->
              type.getPackageName().startsWith("dev.kagzi.sdk.internal")
                  || type.getPackageName().startsWith("dev.kagzi.protocol"));

  @ArchTest
  static final ArchRule public_signatures_mention_no_internal_type =
      noCodeUnits()
          .that()
          .areDeclaredInClassesThat()
          .resideInAPackage("dev.kagzi.sdk")
          .and()
          .arePublic()
          .should(mentionHiddenTypes());

  @ArchTest
  static final ArchRule public_signatures_about_databases_mention_no_internal_type =
      noCodeUnits()
          .that()
          .areDeclaredInClassesThat()
          .resideInAPackage("dev.kagzi.sdk.jdbc")
          .and()
          .arePublic()
          .should(mentionHiddenTypes());

  /** An application without a database of its own does not need a driver or a pool. */
  @ArchTest
  static final ArchRule databases_are_used_by_interfaces_of_the_jdk =
      noClasses()
          .that()
          .resideInAnyPackage("dev.kagzi.sdk.jdbc", "..internal.jdbc..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "org.postgresql..", "com.zaxxer..", "org.h2..", "com.mysql..", "..internal.run..");

  @ArchTest
  static final ArchRule only_the_package_about_databases_executes_sql =
      noClasses()
          .that()
          .resideOutsideOfPackages("dev.kagzi.sdk.jdbc", "..internal.jdbc..")
          .should()
          .dependOnClassesThat()
          .haveFullyQualifiedName("java.sql.PreparedStatement");

  @ArchTest
  static final ArchRule public_fields_have_no_internal_type =
      noFields()
          .that()
          .areDeclaredInClassesThat()
          .resideInAPackage("dev.kagzi.sdk")
          .and()
          .arePublic()
          .should()
          .haveRawType(HIDDEN);

  @ArchTest
  static final ArchRule reports_know_no_runs =
      noClasses()
          .that()
          .resideInAPackage("..internal.report..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("..internal.run..", "..internal.worker..", "..internal.client..");

  @ArchTest
  static final ArchRule runs_know_no_workers =
      noClasses()
          .that()
          .resideInAPackage("..internal.run..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("..internal.worker..", "..internal.client..");

  @ArchTest
  static final ArchRule wire_knows_only_the_public_package =
      noClasses()
          .that()
          .resideInAPackage("..internal.wire..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "..internal.worker..",
              "..internal.client..",
              "..internal.run..",
              "..internal.report..");

  /** What the application's registry throws must end in GuardedMetrics. */
  @ArchTest
  static final ArchRule only_the_metrics_use_micrometer =
      noClasses()
          .that()
          .resideOutsideOfPackage("..internal.metrics..")
          // It has the method that receives the registry.
          .and()
          .doNotHaveFullyQualifiedName("dev.kagzi.sdk.Kagzi$Builder")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("io.micrometer..");

  /** Code that bypasses EventLog may omit the ids from its messages. */
  @ArchTest
  static final ArchRule only_the_event_log_logs =
      noClasses()
          .that()
          .resideOutsideOfPackage("..internal.log..")
          // The logger of workflow code.
          .and()
          .doNotHaveSimpleName("ReplayLogger")
          .and()
          .doNotHaveSimpleName("RunContext")
          .and()
          .doNotHaveSimpleName("WorkflowContext")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("org.slf4j..");

  @ArchTest
  static final ArchRule the_event_log_knows_nobody =
      noClasses()
          .that()
          .resideInAPackage("..internal.log..")
          .should()
          .dependOnClassesThat(
              DescribedPredicate.describe(
                  "other classes of the SDK",
                  type ->
                      type.getPackageName().startsWith("dev.kagzi.")
                          && !type.getPackageName().equals("dev.kagzi.sdk.internal.log")));

  /** What the application's OpenTelemetry throws must end in GuardedTracing. */
  @ArchTest
  static final ArchRule only_the_tracing_by_open_telemetry_knows_open_telemetry =
      noClasses()
          .that()
          .resideOutsideOfPackage("..internal.otel..")
          .and()
          .doNotHaveFullyQualifiedName("dev.kagzi.sdk.Kagzi$Builder")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("io.opentelemetry..");

  @ArchTest
  static final ArchRule only_the_builder_of_a_client_chooses_open_telemetry =
      noClasses()
          .that()
          .resideOutsideOfPackage("..internal.otel..")
          .and()
          .doNotHaveFullyQualifiedName("dev.kagzi.sdk.Kagzi$Builder")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("..internal.otel..");

  private static ArchCondition<JavaCodeUnit> mentionHiddenTypes() {
    return new ArchCondition<>("mention internal or protocol types") {
      @Override
      public void check(JavaCodeUnit unit, ConditionEvents events) {
        boolean hidden =
            HIDDEN.test(unit.getRawReturnType())
                || unit.getRawParameterTypes().stream().anyMatch(HIDDEN);
        events.add(new SimpleConditionEvent(unit, hidden, unit.getFullName()));
      }
    };
  }
}
