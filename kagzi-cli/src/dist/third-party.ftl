<#-- Made from the dependency tree by the build. -->
What Kagzi brings along in lib/kagzi.jar, and under which licences.

<#list dependencyMap as e>
<#assign artifact = e.getKey()/>
<#assign licenses = e.getValue()/>
<#if artifact.groupId != "dev.kagzi">
${artifact.groupId}:${artifact.artifactId}:${artifact.version}
    <#list licenses as license>${license}<#sep>; </#list>
    ${artifact.url!"-"}
</#if>
</#list>
