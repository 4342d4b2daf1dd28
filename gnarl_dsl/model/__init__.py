"""A checked problem: what every later stage reads, and nothing that it could misread."""

from __future__ import annotations

from gnarl_dsl.model.expr import (
    Arithmetic as Arithmetic,
)
from gnarl_dsl.model.expr import (
    Assign as Assign,
)
from gnarl_dsl.model.expr import (
    Bind as Bind,
)
from gnarl_dsl.model.expr import (
    Binder as Binder,
)
from gnarl_dsl.model.expr import (
    Boolean as Boolean,
)
from gnarl_dsl.model.expr import (
    Call as Call,
)
from gnarl_dsl.model.expr import (
    Category as Category,
)
from gnarl_dsl.model.expr import (
    Chase as Chase,
)
from gnarl_dsl.model.expr import (
    Choice as Choice,
)
from gnarl_dsl.model.expr import (
    ClauseRef as ClauseRef,
)
from gnarl_dsl.model.expr import (
    Compare as Compare,
)
from gnarl_dsl.model.expr import (
    Degree as Degree,
)
from gnarl_dsl.model.expr import (
    Domain as Domain,
)
from gnarl_dsl.model.expr import (
    EdgesDomain as EdgesDomain,
)
from gnarl_dsl.model.expr import (
    Expr as Expr,
)
from gnarl_dsl.model.expr import (
    Expression as Expression,
)
from gnarl_dsl.model.expr import (
    FeatureRef as FeatureRef,
)
from gnarl_dsl.model.expr import (
    ForEach as ForEach,
)
from gnarl_dsl.model.expr import (
    HasEdge as HasEdge,
)
from gnarl_dsl.model.expr import (
    IfElse as IfElse,
)
from gnarl_dsl.model.expr import (
    Last as Last,
)
from gnarl_dsl.model.expr import (
    LetCall as LetCall,
)
from gnarl_dsl.model.expr import (
    Logic as Logic,
)
from gnarl_dsl.model.expr import (
    Model as Model,
)
from gnarl_dsl.model.expr import (
    NearDomain as NearDomain,
)
from gnarl_dsl.model.expr import (
    NodesDomain as NodesDomain,
)
from gnarl_dsl.model.expr import (
    Number as Number,
)
from gnarl_dsl.model.expr import (
    OneNode as OneNode,
)
from gnarl_dsl.model.expr import (
    Otherwise as Otherwise,
)
from gnarl_dsl.model.expr import (
    Quantifier as Quantifier,
)
from gnarl_dsl.model.expr import (
    RangeDomain as RangeDomain,
)
from gnarl_dsl.model.expr import (
    Read as Read,
)
from gnarl_dsl.model.expr import (
    SetEdge as SetEdge,
)
from gnarl_dsl.model.expr import (
    Size as Size,
)
from gnarl_dsl.model.expr import (
    Statement as Statement,
)
from gnarl_dsl.model.expr import (
    Unary as Unary,
)
from gnarl_dsl.model.expr import (
    ValueType as ValueType,
)
from gnarl_dsl.model.expr import (
    Variable as Variable,
)
from gnarl_dsl.model.expr import (
    When as When,
)
from gnarl_dsl.model.problem import (
    Alternative as Alternative,
)
from gnarl_dsl.model.problem import (
    Costs as Costs,
)
from gnarl_dsl.model.problem import (
    CostTerm as CostTerm,
)
from gnarl_dsl.model.problem import (
    Draw as Draw,
)
from gnarl_dsl.model.problem import (
    Expert as Expert,
)
from gnarl_dsl.model.problem import (
    ExpertPhase as ExpertPhase,
)
from gnarl_dsl.model.problem import (
    Feature as Feature,
)
from gnarl_dsl.model.problem import (
    FeatureType as FeatureType,
)
from gnarl_dsl.model.problem import (
    GraphKind as GraphKind,
)
from gnarl_dsl.model.problem import (
    GreedyExpert as GreedyExpert,
)
from gnarl_dsl.model.problem import (
    InputSource as InputSource,
)
from gnarl_dsl.model.problem import (
    InstanceSet as InstanceSet,
)
from gnarl_dsl.model.problem import (
    Let as Let,
)
from gnarl_dsl.model.problem import (
    LetParam as LetParam,
)
from gnarl_dsl.model.problem import (
    Metric as Metric,
)
from gnarl_dsl.model.problem import (
    Objective as Objective,
)
from gnarl_dsl.model.problem import (
    Param as Param,
)
from gnarl_dsl.model.problem import (
    Phase as Phase,
)
from gnarl_dsl.model.problem import (
    Place as Place,
)
from gnarl_dsl.model.problem import (
    Problem as Problem,
)
from gnarl_dsl.model.problem import (
    Reward as Reward,
)
from gnarl_dsl.model.problem import (
    RuleExpert as RuleExpert,
)
from gnarl_dsl.model.problem import (
    SortKey as SortKey,
)
from gnarl_dsl.model.problem import (
    SourceText as SourceText,
)
from gnarl_dsl.model.problem import (
    Split as Split,
)
from gnarl_dsl.model.problem import (
    Stage as Stage,
)
from gnarl_dsl.model.problem import (
    choose_reward as choose_reward,
)
