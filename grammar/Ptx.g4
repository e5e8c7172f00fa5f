// PTX 1.0 to 9.4 as the PTX ISA manual describes it, reduced to its shape: what an opcode means stands in
// goptx/ptx/opcodes.py, not here. One look at the next token decides everywhere (LL(1)), and labels
// (`x=`, `xs+=`) carry what the reader needs, so no parse tree is built.
grammar Ptx;

options { contextSuperClass = Rule; }

@parser::header {
from goptx.ptx.rule import Rule
}

module: items+=item* EOF;

item
    : '.version' number=(FLOAT | INTEGER | NAME)                              # version
    | '.target' names+=NAME (',' names+=NAME)*                                # target
    | '.address_size' bits=INTEGER                                            # addressSize
    | '.file' index=INTEGER path=STRING (',' stamp=INTEGER ',' size=INTEGER)? # file
    | '.section' name=(DOTTED | NAME) '{' words+=sectionWord* '}'             # section
    | line=DWARF                                                              # dwarf
    | text=SOURCES                                                            # sources
    | '.pragma' texts+=STRING (',' texts+=STRING)* ';'                        # modulePragma
    | '.alias' names+=NAME ',' names+=NAME ';'                                # alias
    | of=registers                                                            # moduleRegisters
    | linkage+=LINKAGE* of=linked                                             # symbol
    ;

// Debug sections are not interpreted; their words are kept in order.
sectionWord: word=(DOTTED | NAME | INTEGER | FLOAT | STRING | ',' | ':' | '+' | '-' | '.file');

linked: of_variables=variables | of_entry=entry | of_function=function;

entry
    : '.entry' name=NAME ('(' (params+=parameter (',' params+=parameter)*)? ')')? directives+=directive* (body=block | ';')
    ;

// A declaration of CUDA 1 to 4 has no end: neither body nor semicolon.
function
    : '.func' before+=marking* ('(' results+=parameter (',' results+=parameter)* ')')? name=NAME
      ('(' (params+=parameter (',' params+=parameter)*)? ')')? directives+=setting* (body=block | ';')?
    ;

marking: word=DOTTED | of=attributes;

directive: of=setting | '.pragma' texts+=STRING (',' texts+=STRING)* ';';

setting: name=DOTTED (values+=(INTEGER | STRING) (',' values+=(INTEGER | STRING))*)?;

// .global .align 4 .b8 table[2][3] = {...}, other;
variables
    : (of=attributes | aligned=alignment)? space=SPACE qualifiers+=qualifier*
      declared+=declarator (',' declared+=declarator)* ';'
    ;

// .param .u64 .ptr .global .align 16 x
parameter: aligned=alignment? space=(SPACE | '.reg') qualifiers+=qualifier* of=declarator?;

declarator: name=NAME ('<' count=INTEGER '>')? dims+=dimension* ('=' init=initializer)?;

qualifier: word=(DOTTED | SPACE) | aligned=alignment | of=attributes;

alignment: '.align' bytes_=INTEGER;

attributes: '.attribute' '(' each+=attribute (',' each+=attribute)* ')';

attribute: name=DOTTED ('(' values+=INTEGER (',' values+=INTEGER)* ')')?;

dimension: '[' size=(INTEGER | NAME)? ']'; // NAME: WARP_SZ

initializer: '{' (parts+=initializer (',' parts+=initializer)*)? '}' | of=expression ('=' value_=expression)?;

block: '{' statements+=statement* '}';

statement
    : name=NAME (colon=':' | words+=(DOTTED | SPACE | LINKAGE | '.alias')* (operands+=operand (',' operands+=operand)*)? ';') # named
    | '@' negated='!'? guard=NAME name=NAME words+=(DOTTED | SPACE | LINKAGE | '.alias')*
      (operands+=operand (',' operands+=operand)*)? ';'                                              # guarded
    | of=registers                                                                                   # localRegisters
    | linkage+=LINKAGE* of=variables                                                                 # local
    | of_block=block                                                                                 # scope
    | '.loc' where+=INTEGER where+=INTEGER where+=INTEGER (',' words+=locationWord)*                 # location
    | '.loc_intermediate' where+=INTEGER where+=INTEGER where+=INTEGER                               # intermediateLocation
    | '.pragma' texts+=STRING (',' texts+=STRING)* ';'                                               # pragma
    | '.branchtargets' names+=numbered (',' names+=numbered)* ';'                                    # branchTargets
    | '.calltargets' names+=numbered (',' names+=numbered)* ';'                                      # callTargets
    | '.callprototype' ('(' (results+=parameter (',' results+=parameter)*)? ')')? name=NAME
      ('(' (params+=parameter (',' params+=parameter)*)? ')')? directives+=directive* ';'            # callPrototype
    ;

registers: '.reg' types+=DOTTED+ names+=numbered (',' names+=numbered)* ';';

// %r<10> is %r0 to %r9
numbered: name=NAME ('<' count=INTEGER '>')?;

// function_name L + 4      inlined_at 1 2 3
locationWord: word=NAME (name=NAME ('+' offset=INTEGER)? | where+=INTEGER where+=INTEGER where+=INTEGER);

operand
    : '{' (parts+=operand (',' parts+=operand)*)? '}' ('|' other=NAME)?       # vector
    | '[' parts+=operand (',' parts+=operand)* ']'                            # address
    | '(' (cast=DOTTED ')' of=operand
          | (parts+=operand (',' parts+=operand)*)? ')' tail+=expressionTail*) # tuple
    | first=NAME ('[' index=operand ']' | tail+=expressionTail*)              # symbolic
    | sign=('-' | '+' | '~' | '!') of=operand                                 # signed
    | number=(INTEGER | FLOAT) tail+=expressionTail*                          # literal
    ;

// Constant expressions are kept as they are written, so which operator binds more tightly does not matter here.
expression: first=expressionTerm tail+=expressionTail*;

expressionTail
    : operator=('+' | '-' | '*' | '/' | '%' | '<<' | '>>' | '<' | '>' | '<=' | '>=' | '==' | '!=' | '&' | '|' | '^' | '&&' | '||'
               | '?' | ':') of=expressionTerm
    ;

// 0xFF00(table) masks an address, generic(table) makes it generic.
expressionTerm
    : signs+=('-' | '+' | '~' | '!')*
      ( (of=(INTEGER | FLOAT | STRING) | name=NAME) ('(' inner=expression ')')?
      | '(' (cast=DOTTED ')' casted=expressionTerm | nested=expression ')')
      )
    ;

LINKAGE: '.visible' | '.extern' | '.weak' | '.common';
SPACE: '.global' | '.shared' | '.const' BANK? | '.local' | '.param' | '.tex' | '.sreg';

NAME: [a-zA-Z_$%] [a-zA-Z0-9_$]* ('.' [a-zA-Z0-9_$]+ | '.const' BANK | '::' [a-zA-Z0-9_$]+ | RATIO)*;
DOTTED: '.' ([a-zA-Z_] | [0-9]+ ([dx] | 'byte')) [a-zA-Z0-9_$]* ('::' [a-zA-Z0-9_$]+ | RATIO)*;
FLOAT: '0' [fF] HEX+ | '0' [dD] HEX+ | [0-9]+ '.' [0-9]* EXPONENT? | [0-9]+ EXPONENT | '.' [0-9]+ EXPONENT?;
INTEGER: ('0' [xX] HEX+ | '0' [bB] [01]+ | '0' [0-7]* | [1-9] [0-9]*) 'U'?;
STRING: '"' ~["\r\n]* '"'; // nothing in it is escaped
DWARF: '@@DWARF' ~[\r\n]*; // debug data as PTX before 2.0 has it
SOURCES: '.nv_intermediate_source_section' BLANK* '{' (BLANK* '.code_block' BLANK* '{' .*? '.source_end' BLANK* '}')* BLANK* '}';

fragment HEX: [0-9a-fA-F];
fragment EXPONENT: [eE] [+-]? [0-9]+;
fragment BANK: '[' [0-9]+ ']'; // of constant memory, before PTX 2.2
fragment RATIO: '::' [0-9]+ ':' [0-9]+; // of a sparse vector: `.sp::2:4`
fragment BLANK: [ \t\r\n\f\u000B];

SPACES: [ \t\r\n\f\u000B]+ -> skip;
LINE_COMMENT: '//' ~[\r\n]* -> skip;
BLOCK_COMMENT: '/*' .*? '*/' -> skip;
LINE_MARK: '#' [ \t]* ('line' [ \t]+)? [0-9] ~[\r\n]* -> skip; // of a C preprocessor
OTHER: .;
